"""A block of a transformer, part by part in the order in which its code computes."""

from app.estimator.architecture import Block, Role
from app.estimator.layers import Layers
from app.estimator.tape import Form, Tensor, per_token

_PROJECTIONS: tuple[Role, ...] = ("q", "k", "v")


class Blocks:
    """Writes a kind of block on the layers' tape."""

    def __init__(
        self,
        layers: Layers,
        block: Block,
        *,
        other: Tensor | None = None,
        spread: float = 1.0,
        keys: float | None = None,
        other_keys: float | None = None,
    ) -> None:
        """``other``: the encoder's output, for cross-attention.

        Where the tape counts samples and not tokens, ``spread`` is the tokens of this block in each sample, ``keys``
        the tokens that each of them attends to, and ``other_keys`` those of the other sequence.
        """
        self.layers = layers
        self.tape = layers.tape
        self.block = block
        self.other = other
        self.spread = spread
        self.keys = keys
        self.other_keys = other_keys

    def forward(self, tensor: Tensor) -> Tensor:
        """One block."""
        layout = self.block.layout
        if layout == "post":
            return self._post(tensor)
        if layout.startswith("parallel"):
            return self._parallel(tensor)
        return self._pre(tensor)

    # --- How the parts are joined ---

    def _pre(self, tensor: Tensor) -> Tensor:
        layout = self.block.layout
        hidden = self._norm(tensor) if layout != "reordered" else tensor
        hidden, _scores = self.attention(hidden)
        hidden = self._dropped(hidden)
        if layout != "pre":
            hidden = self._norm(hidden)
        hidden = self.tape.add(tensor, hidden)
        if self.other is not None:
            residual = hidden
            hidden = self._norm(hidden)
            hidden, _scores = self.cross_attention(hidden)
            hidden = self.tape.add(residual, self._dropped(hidden))
            del residual
        residual = hidden
        if layout != "reordered":
            hidden = self._norm(hidden)
        hidden = self._dropped(self.feed_forward(hidden))
        if layout != "pre":
            hidden = self._norm(hidden)
        return self.tape.add(residual, hidden)

    def _post(self, tensor: Tensor) -> Tensor:
        """BERT's code holds the scores, and what lies between the halves of the MLP, until the norm is done."""
        hidden, _scores = self.attention(tensor)
        if self.block.attention_out_dropout:
            hidden = self._dropped(hidden)
        attended = self._norm(self.tape.add(hidden, tensor))
        del hidden
        inner = self._inner(attended, "gate", "up")
        hidden = self._linear(inner, "down")
        if not self.block.holds_inner:
            del inner
        hidden = self._dropped(hidden)
        return self._norm(self.tape.add(hidden, attended))

    def _parallel(self, tensor: Tensor) -> Tensor:
        normed = self._norm(tensor)
        attended, _scores = self.attention(normed)
        attended = self._dropped(attended)
        if self.block.layout == "parallel_two_norms":
            normed = self._norm(tensor)
        mixed = self._dropped(self.feed_forward(normed))
        return self.tape.add(self.tape.add(mixed, attended), tensor)

    def _wide(self, width: float) -> Form:
        return per_token(width * self.spread)

    def _norm(self, tensor: Tensor) -> Tensor:
        return self.layers.norm(tensor, self.block.hidden, self.block.norm, bias=self.block.norm_bias)

    def _dropped(self, tensor: Tensor) -> Tensor:
        return self.layers.dropout(tensor) if self.block.residual_dropout else tensor

    def _linear(self, tensor: Tensor, role: Role) -> Tensor:
        layer = self.block.find(role)
        assert layer is not None, role  # noqa: S101
        return self.layers.linear(tensor, layer)

    # --- Attention ---

    def attention(self, tensor: Tensor) -> tuple[Tensor, Tensor | None]:
        """Self-attention with its output layer, and the scores, which the code's variables hold for a while."""
        query, key, value = self._projected(tensor)
        if self.block.rotary:
            share = self.block.rope_width / self.block.head_width if self.block.rope_width else 1.0
            turned = self.layers.rotate(query, tensor.bytes, share)
            turned_key = self.layers.rotate(key, tensor.bytes, share)
            query, key = turned, turned_key
            del turned, turned_key
        attended, scores = self._attended(query, key, value)
        return self._linear(attended, "o"), scores

    def _projected(self, tensor: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        block = self.block
        if block.find("kv_a") is not None:
            return self._latent(tensor)
        if block.find("qkv") is not None:
            fused = self._linear(tensor, "qkv")
            query, key, value = self.tape.split(
                fused, *(width * self.spread for width in (block.query_width, block.key_width, block.key_width))
            )
            del fused
            if block.copies_heads:
                query, key, value = self.tape.scale(query), self.tape.scale(key), self.tape.scale(value)
            if block.repeats_keys:
                key, value = self.layers.repeated(key, query.width), self.layers.repeated(value, query.width)
        else:
            query, key, value = (self._linear(tensor, role) for role in _PROJECTIONS)
        if block.qk_norm:
            width = block.head_width
            query = self.layers.norm(query, block.query_width if block.qk_norm == "full" else width, "rms")
            key = self.layers.norm(key, block.key_width if block.qk_norm == "full" else width, "rms")
        return query, key, value

    def _latent(self, tensor: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): low-rank queries, keys and values."""
        block, tape = self.block, self.tape
        if block.find("q_a") is not None:
            low = self._linear(tensor, "q_a")
            low = self.layers.norm(low, int(low.width.token), "rms")
            query = self._linear(low, "q_b")
            del low
        else:
            query = self._linear(tensor, "q")
        packed = self._linear(tensor, "kv_a")
        expand = block.find("kv_b")
        assert expand is not None  # noqa: S101
        low, _ = tape.split(packed, expand.inputs * self.spread, block.rope_width * self.spread)
        low = self.layers.norm(low, expand.inputs, "rms")
        both = self._linear(low, "kv_b")
        value_width = self.spread * block.heads * (block.value_width or block.head_width)
        key, value = tape.split(both, both.width.token - value_width, value_width)
        # Keys get the shared rotary part copied to each head.
        key = tape.operate((key,), self._wide(block.query_width), key.bytes)
        return query, key, value

    def cross_attention(self, tensor: Tensor) -> tuple[Tensor, Tensor | None]:
        """Attention to the encoder's output."""
        assert self.other is not None  # noqa: S101
        query = self._linear(tensor, "cross_q")
        key = self._linear(self.other, "cross_k")
        value = self._linear(self.other, "cross_v")
        attended, scores = self._attended(query, key, value, across=True)
        return self._linear(attended, "cross_o"), scores

    def _attended(
        self, query: Tensor, key: Tensor, value: Tensor, *, across: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        block, layers = self.block, self.layers
        if block.position_rows:
            return self._disentangled(query, key, value)
        if layers.recipe.attention == "flash" or not (layers.eager or block.always_eager):
            shared = not across and key.width != query.width
            causal = block.causal and not across
            keys = self.other_keys if across else self.keys
            heads = block.heads * self.spread
            attended = layers.fused_attention(query, key, value, heads, keys=keys, repeats=shared, causal=causal)
            return attended, None
        return self._eager(query, key, value, across=across)

    def _disentangled(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """DeBERTa's scores: words to words, words to positions, positions to words (arXiv 2006.03654).

        The table of positions goes through the same projections and is repeated for each sample, which has about as
        many tokens as the table has rows.
        """
        block, layers, tape = self.block, self.layers, self.tape
        query, key, value = tape.scale(query), tape.scale(key), tape.scale(value)
        scores, product = _pairs(block.heads, None), _pairs(2 * query.width.token, None)
        weights = layers.batched_product(query, tape.scale(key), scores, product)
        rows = per_token(float(block.heads * block.position_rows))
        total: Tensor | None = None
        for words in (query, key):
            table = layers.parameter(0).tensor()
            projected = Form(2.0 * block.position_rows * block.hidden * block.query_width)
            positions = tape.operate(
                (table,), query.width, query.bytes, kind="dense", flops=projected, backward_flops=(projected.times(2),)
            )
            work = per_token(2.0 * query.width.token * block.position_rows)
            far = layers.batched_product(words, positions, rows, work)
            del positions
            # Picking each pair's column keeps the whole, to know where the gradients go.
            near = tape.scale(tape.operate((far,), scores, far.bytes, saves=(far,)))
            del far
            total = near if total is None else tape.add(total, near)
            del near
        assert total is not None  # noqa: S101
        weights = tape.add(weights, total)  # the code's variable holds the sum of the two until it is through
        weights = tape.operate((weights,), scores, weights.bytes, side_bytes=Form(pair=1.0))
        weights = layers.softmax(weights, widens=False)
        if block.attention_dropout:
            weights = layers.dropout(weights)
        result = layers.batched_product(weights, value, query.width, product)
        return tape.scale(result), weights

    def _eager(self, query: Tensor, key: Tensor, value: Tensor, *, across: bool) -> tuple[Tensor, Tensor]:
        """The scores as a tensor of heads × length × length: product, scaling, mask, softmax, dropout, product."""
        block, layers, tape = self.block, self.layers, self.tape
        keys = self.other_keys if across else self.keys
        shared = not across and block.key_value_heads != block.heads
        if shared:
            key = layers.repeated(key, query.width)
            value_width = block.heads * (block.value_width or block.head_width)
            value = layers.repeated(value, self._wide(value_width))
        scores, product = _pairs(block.heads * self.spread, keys), _pairs(2 * query.width.token, keys)
        weights = layers.batched_product(query, key, scores, product)
        if not block.scores_at_once:
            weights = tape.scale(weights)
        if block.attention_softcap:
            weights = tape.scale(weights)
            weights = tape.operate((weights,), scores, weights.bytes, saves_output=True)
            weights = tape.scale(weights)
        if block.causal or block.adds_bias_matrix:
            weights = tape.scale(weights)
        size = weights.bytes
        weights = layers.softmax(weights, widens=block.softmax_widens)
        weights = tape.to(weights, query.bytes if block.softmax_widens else size if not tape.autocast else 4)
        if block.attention_dropout:
            weights = layers.dropout(weights)
        output = self._wide(block.heads * (block.value_width or block.head_width))
        result = layers.batched_product(weights, value, output, product)
        return tape.scale(result), weights

    # --- Feed-forward ---

    def feed_forward(self, tensor: Tensor) -> Tensor:
        """The MLP, or the experts beside the shared ones."""
        if self.block.experts:
            return self._experts(tensor)
        return self._mlp(tensor, "gate", "up", "down")

    def _mlp(self, tensor: Tensor, gate: Role, up: Role, down: Role) -> Tensor:
        return self._linear(self._inner(tensor, gate, up), down)

    def _inner(self, tensor: Tensor, gate: Role, up: Role) -> Tensor:
        """What lies between the halves of the MLP."""
        block, layers, tape = self.block, self.layers, self.tape
        if gate == "gate" and block.find("gate_up") is not None:
            both = self._linear(tensor, "gate_up")
            width = both.width.token / 2
            gated, other = tape.split(both, width, width)
            return tape.multiply(other, layers.activation(gated, block.activation))
        inner = layers.activation(self._linear(tensor, gate if block.gated else up), block.activation)
        if block.gated:
            inner = tape.multiply(inner, self._linear(tensor, up))
        return layers.dropout(inner) if block.mlp_dropout else inner

    def _experts(self, tensor: Tensor) -> Tensor:
        """Each token goes to some of the experts; their outputs are weighted and added (arXiv 2101.03961)."""
        block, tape = self.block, self.tape
        scores = self.layers.softmax(self._linear(tensor, "router"))
        routed = self._routed(tensor, scores)
        if block.find("shared_down") is None:
            return routed
        shared = self._mlp(tensor, "shared_gate", "shared_up", "shared_down")
        if block.find("shared_router") is not None:
            scores = self._linear(tensor, "shared_router")
            gate = tape.operate((scores,), self._wide(1), tensor.bytes, saves_output=True)
            shared = tape.multiply(shared, gate)
        return tape.add(routed, shared)

    def _routed(self, tensor: Tensor, scores: Tensor) -> Tensor:
        tape = self.tape
        down = self.block.find("down")
        assert down is not None  # noqa: S101
        copies = per_token(tensor.width.token * down.active)
        sent = tape.operate((tensor,), copies, tensor.bytes)
        result = self._mlp(sent, "gate", "up", "down")
        del sent
        share = Tensor(scores.storage, self._wide(down.active), scores.bytes, scores.node)
        weighted = tape.multiply(result, share)
        del result, share
        return tape.operate((weighted,), tensor.width, tensor.bytes)


def _pairs(width: float, keys: float | None) -> Form:
    """``width`` for each token and token that it attends to."""
    return Form(pair=width) if keys is None else Form(token=width * keys)
