"""The tape lives as autograd does: sizes by hand for small programs."""

import pytest

from app.estimator.tape import Form, Leaf, Peak, Tape, Tensor, Weight, per_token


def given(tape: Tape, width: float, *, needs_gradient: bool = True) -> Tensor:
    leaf = Leaf(is_weight=False) if needs_gradient else None
    return Tensor(tape.new(per_token(width), 2), per_token(width), 2, leaf)


def loss_of(tape: Tape, tensor: Tensor) -> Tensor:
    return tape.operate((tensor,), Form(1.0), 4)


def test_what_nothing_holds_is_gone() -> None:
    tape = Tape()
    tensor = given(tape, 10, needs_gradient=False)
    assert tape.now() == Peak(0, 0, 20, 0)
    tensor = tape.scale(tensor)
    assert tape.now().token == 20
    assert tape.peaks["forward"][-1].token == 40
    del tensor
    assert tape.now().token == 0


def test_what_backward_needs_stays_until_it_was_used() -> None:
    tape = Tape()
    tensor = tape.operate((given(tape, 10),), per_token(10), 2, saves_output=True)
    tensor = tape.scale(tensor)
    loss = loss_of(tape, tensor)
    del tensor
    # The saved output and the loss; the input and the scaled copy are gone.
    assert tape.now() == Peak(4, 0, 20, 0)
    tape.backward(loss)
    del loss
    # What is left is the gradient, which nobody keeps for an input that is no weight.
    assert tape.now().token == 0


def test_without_gradients_nothing_is_kept() -> None:
    tape = Tape()
    tensor = tape.operate((given(tape, 10, needs_gradient=False),), per_token(10), 2, saves_output=True)
    del tensor
    assert tape.now() == Peak(0, 0, 0, 0)
    assert tape.nodes == []


def test_a_weights_gradient_is_kept_as_one_and_waits_for_all_its_uses() -> None:
    tape = Tape()
    weight = Weight(100, 4, trained=True)
    once = tape.operate((given(tape, 10), weight.tensor()), per_token(10), 2)
    twice = tape.operate((once, weight.tensor()), per_token(10), 2)
    loss = loss_of(tape, twice)
    del once, twice
    tape.backward(loss)
    assert tape.now().gradients == 400
    # At the second use there were three: the first, the second, and their sum.
    assert max(peak.fixed for peak in tape.peaks["forward"]) >= 3 * 400


def test_a_carried_gradient_takes_the_new_one_in() -> None:
    tape = Tape(carried=True)
    weight = Weight(100, 4, trained=True)
    loss = loss_of(tape, tape.operate((given(tape, 10), weight.tensor()), per_token(10), 2))
    tape.backward(loss)
    assert tape.now().gradients == 0
    assert max(peak.fixed for peak in tape.peaks["forward"]) >= 400


def test_autocast_keeps_the_casts_of_trained_weights_until_it_ends() -> None:
    tape = Tape(autocast=2)
    trained, frozen = Weight(100, 4, trained=True), Weight(100, 4, trained=False)
    first = tape.weight(trained, 2)
    assert tape.weight(trained, 2) is first
    assert tape.weight(frozen, 2) is not tape.weight(frozen, 2)
    assert tape.weight(frozen, 4).storage is None
    del first
    assert tape.now().fixed == 200
    tape.end_autocast()
    # The cast's operator is no reason to keep it: it saved nothing.
    assert tape.now().fixed == 0


def test_a_checkpoint_keeps_its_input_alone_and_computes_again() -> None:
    tape = Tape()

    def stretch(tensor: Tensor) -> Tensor:
        for _ in range(3):
            tensor = tape.operate((tensor,), per_token(10), 2, saves_output=True, flops=per_token(5))
        return tape.operate((tensor,), per_token(10), 2, flops=per_token(7))

    tensor = tape.checkpoint(stretch, given(tape, 10))
    assert tape.now().token == 40
    loss = loss_of(tape, tensor)
    del tensor
    tape.backward(loss)
    work = {
        stage: sum(one.flops.token for one in tape.works if one.stage == stage) for stage in ("forward", "recomputed")
    }
    # The last operator keeps nothing, so nothing needs it again.
    assert work == {"forward": 22, "recomputed": 15}


def test_a_checkpoint_inside_another_or_without_gradients_is_none_of_its_own() -> None:
    tape = Tape()

    def inner(tensor: Tensor) -> Tensor:
        return tape.operate((tensor,), per_token(10), 2, saves_output=True)

    def outer(tensor: Tensor) -> Tensor:
        return tape.checkpoint(inner, tensor)

    tensor = tape.checkpoint(outer, given(tape, 10))
    assert len(tape.nodes) == 1
    tape.backward(loss_of(tape, tensor))
    plain = Tape()
    result = plain.checkpoint(plain.scale, given(plain, 10, needs_gradient=False))
    assert result.node is None
    assert plain.mark(result, "backward") is result


def test_parts_of_a_tensor_give_their_gradients_back_together() -> None:
    tape = Tape()
    left, right = tape.split(given(tape, 10), 4, 6)
    total = tape.operate((left, right), per_token(10), 2)
    del left, right
    tape.backward(loss_of(tape, total))
    # Both parts' gradients and the whole's: 8 + 12 + 20.
    assert max(peak.token for peak in tape.peaks["forward"]) >= 40


def test_an_operator_whose_gradient_never_arrives_is_passed_over() -> None:
    tape = Tape()
    start = given(tape, 10)
    unused = tape.scale(start)
    loss = loss_of(tape, tape.scale(start))
    tape.backward(loss)
    assert unused.storage is not None
    tape.backward(given(tape, 1, needs_gradient=False))


@pytest.mark.parametrize("form", [Form(1, 2, 3), per_token(4)])
def test_forms_are_linear(form: Form) -> None:
    assert form.times(3).at(5, 7) == pytest.approx(3 * form.at(5, 7))
    assert Peak(1, 2, 3, 4).at(5, 7) == 1 + 2 + 15 + 140
