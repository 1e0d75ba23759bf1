// What htmx does not cover. Every page works without this file.

const inOpenMenu = (node) => node instanceof Element && node.closest("details[data-menu][open]");

// A menu closes when the pointer goes elsewhere, and on Escape, which gives the focus back to its button.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (inOpenMenu(event.target) !== menu) menu.open = false;
  }
  if (event.target instanceof Element) event.target.closest("[data-dismiss]")?.closest(".flash")?.remove();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = inOpenMenu(document.activeElement) || document.activeElement?.closest("details.confirm[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

// The list of mistakes takes the focus, so that it is read first and its links are one key away.
const focusMistakes = (root) => root.querySelector("[data-focus]")?.focus();

// The viewer's own time zone as the first choice of a set-up form.
const fillTimeZone = (root) => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const control of root.querySelectorAll("[data-fill='time-zone']")) {
    const known = control.tagName !== "SELECT" || [...control.options].some((option) => option.value === zone);
    if (known && !control.dataset.filled) control.value = zone;
    control.dataset.filled = "yes";
  }
};

const prepare = (root) => {
  fillTimeZone(root);
  focusMistakes(root);
};

// A swap that replaces the field being typed in must not throw the person out of it.
let typingIn = null;

document.addEventListener("htmx:before:swap", () => {
  const active = document.activeElement;
  typingIn = active?.id ? { id: active.id, start: active.selectionStart, end: active.selectionEnd } : null;
});

document.addEventListener("htmx:after:swap", () => {
  prepare(document);
  const field = typingIn && document.getElementById(typingIn.id);
  if (!field || field === document.activeElement || document.activeElement !== document.body) return;
  field.focus({ preventScroll: true });
  if (typingIn.start !== null && typingIn.start !== undefined) field.setSelectionRange(typingIn.start, typingIn.end);
});

document.addEventListener("DOMContentLoaded", () => prepare(document));

// {"spot": {"restart_minutes": 5}} as the form names it: spot.restart_minutes.
const flattened = (change, prefix = "") =>
  Object.entries(change).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? flattened(value, `${prefix}${name}.`)
      : [[prefix + name, value]],
  );

// "Apply" beside a proposed change: writes it into the plan's form, which then shows its new result.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-apply]");
  const form = button && button.closest("form");
  if (!form) return;
  for (const [name, value] of flattened(JSON.parse(button.dataset.apply))) {
    const field = form.elements.namedItem(name);
    if (!field) continue;
    if (field.type === "checkbox") field.checked = Boolean(value);
    else field.value = value === null ? "" : String(value);
  }
  form.dispatchEvent(new Event("change", { bubbles: true }));
});
