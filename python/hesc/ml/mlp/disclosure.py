"""Who holds and learns what under a network's plan, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hesc.ml.mlp.plans import Plan


def table(plan: Plan) -> str:
    """Roles, disclosure, error and bytes of a plan, a line for each."""
    features, outputs = plan.widths[0], plan.widths[-1]
    each = "a score" if outputs == 1 else f"{outputs} scores"
    sees = f"sees its samples, {each} for each"
    if plan.classes is not None:
        sees += ", and its class" + (" and probabilities" if plan.link != "none" else "")
    given = [f"ranges of {features} features, a ball that holds the samples planned with"]
    given += ["their names"] * bool(plan.names) + ["names of classes"] * (plan.classes is not None)
    given += [f"widths of layers ({', '.join(map(str, plan.widths))})"]
    rows = {
        "setting": "client_server: the server holds the weights, the client samples and key",
        "server": "sees how many samples there are, the plan, keys to multiply and rotate; no "
        "sample, no score",
        "client": sees,
        "is given": "; ".join([*given, *(step.discloses for step in plan.steps)]),
        "weights": "NOT HIDDEN FROM THE CLIENT: nothing drowns what noise says of them in an answer",
        "queries": "scores of enough samples give a network away, whatever encrypts them: about as "
        f"many as it has weights, {plan_weights(plan)}, and often fewer",
        "error": f"{plan.error:.3g}, the root mean square of a score's error: {plan.noise:.2g} at "
        f"most by encryption, {plan.fit:.3g} by polynomials on the rows planned with",
        "at worst": f"{plan.worst:.3g} by polynomials, for any sample within ranges and ball; "
        "others are refused",
    }
    if plan.agreement is not None:
        rows["agreement"] = (
            f"{100 * plan.agreement:.2f} % of the rows planned with keep their class"
        )
    sizes = {count: plan.sizes(count) for count in sorted({1, plan.rows})}
    rows["bytes"] = "; ".join(
        f"{size.up} up, {size.down} down for {count} sample{'s' * (count > 1)}"
        for count, size in sizes.items()
    )
    rows["ring"] = (
        f"N = {plan.ring_degree}, {plan.params.assurance}, CKKS, {plan.rows} samples a query"
    )
    what = "regressor" if plan.classes is None else f"classifier of {len(plan.classes)} classes"
    width = max(map(len, rows))
    lines = [f"  {name:<{width}}  {text}" for name, text in rows.items()]
    return "\n".join(
        [f"Private network, {what}: {features} encrypted features, {each} a sample", *lines]
    )


def plan_weights(plan: Plan) -> int:
    """Weights and intercepts of all layers."""
    return sum((a + 1) * b for a, b in zip(plan.widths, plan.widths[1:], strict=False))
