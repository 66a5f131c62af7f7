//! What a plan says, for who shows it.

use hesc_circuits::ring_products::{answer_bytes, query_bytes};
use hesc_client::{Classes, Plan, message};
use serde_json::{Value, json};

/// Fields of a plan, public all of them.
pub fn said(plan: &Plan) -> Value {
    let (ring, steps) = (plan.ring(), plan.steps());
    let first = &ring.parts()[0];
    let spec = first.products().scheme().spec();
    let kinds: Vec<&str> = steps.kinds().iter().map(|kind| kind.name()).collect();
    let (low, high) = ring.ranges();
    let fidelity = plan.fidelity().map(|own| {
        json!({
            "way": own.way, "rows": own.rows, "unseen": own.unseen, "agreement": own.agreement,
            "explained": own.explained, "apart": own.apart,
        })
    });
    json!({
        "inputs": steps.inputs(),
        "names": plan.names(),
        "kinds": kinds,
        "features": ring.features(),
        "low": low,
        "high": high,
        "outputs": plan.outputs(),
        "classes": plan.classes().map(classes),
        "link": plan.link().name(),
        "probabilities": plan.link().has_probabilities(),
        "calibrated": plan.calibration().is_some(),
        "fidelity": fidelity,
        "error": ring.error(),
        "deploymentError": ring.deployment_error(),
        "hidden": first.declared().hiding().map(|hiding| hiding.answers),
        "rows": plan.rows(),
        "parts": ring.parts().len(),
        "ringDegree": spec.ring_degree(),
        "assurance": spec.assurance().name(),
    })
}

/// Classes with their type: whole numbers as texts, which JavaScript's numbers may not hold.
fn classes(classes: &Classes) -> Value {
    match classes {
        Classes::Truths(values) => json!({"type": "bool", "values": values}),
        Classes::Wholes(values) => {
            let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
            json!({"type": "int", "values": texts})
        }
        Classes::Numbers(values) => json!({"type": "float", "values": values}),
        Classes::Texts(values) => json!({"type": "str", "values": values}),
    }
}

/// Bytes of a query of so many samples, and of its answer.
pub fn sizes(plan: &Plan, samples: usize) -> Option<[f64; 2]> {
    if !(1..=plan.rows()).contains(&samples) {
        return None;
    }
    let parts = plan.ring().parts();
    let whole = |each: &dyn Fn(usize) -> usize| {
        let content: usize = (0..parts.len()).map(|place| message::PART + each(place)).sum();
        (message::HEAD + content) as f64
    };
    let up = whole(&|place| query_bytes(&parts[place], samples));
    Some([up, whole(&|place| answer_bytes(&parts[place], samples))])
}
