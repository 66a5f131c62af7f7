//! What a plan says, for who shows it.

use hesc_circuits::ring_products::{answer_bytes, query_bytes};
use hesc_client::{
    Classes, Conclusions, Fidelity, ModelPlan, Plan, SearchPlan, TreesPlan, message,
};
use serde_json::{Value, json};

/// Fields of a plan, public all of them.
pub fn said(plan: &ModelPlan) -> Value {
    let spec = plan.scheme().spec();
    let kinds: Vec<&str> = plan.kinds().iter().map(|kind| kind.name()).collect();
    let conclusions = plan.conclusions();
    let mut found = json!({
        "protocol": plan.protocol(),
        "inputs": plan.columns().steps().inputs(),
        "names": plan.columns().names(),
        "kinds": kinds,
        "features": plan.columns().steps().width(),
        "classes": conclusions.and_then(Conclusions::classes).map(classes),
        "link": conclusions.map_or("none", |own| own.link().name()),
        "probabilities": conclusions.is_some_and(|own| own.link().has_probabilities()),
        "calibrated": conclusions.is_some_and(|own| own.calibration().is_some()),
        "rows": plan.rows(),
        "ringDegree": spec.ring_degree(),
        "assurance": spec.assurance().name(),
    });
    let own = match plan {
        ModelPlan::Scores(plan) => scores(plan),
        ModelPlan::Trees(plan) => trees(plan),
        ModelPlan::Search(plan) => search(plan),
    };
    if let (Value::Object(found), Value::Object(own)) = (&mut found, own) {
        found.extend(own);
    }
    found
}

fn scores(plan: &Plan) -> Value {
    let ring = plan.ring();
    let (low, high) = ring.ranges();
    let hiding = ring.parts()[0].declared().hiding();
    json!({
        "low": low,
        "high": high,
        "outputs": plan.conclusions().outputs(),
        "fidelity": fidelity(plan.fidelity()),
        "error": ring.error(),
        "deploymentError": ring.deployment_error(),
        "hidden": hiding.map(|hiding| hiding.answers),
        "needsKeys": hiding.is_some(),
        "parts": ring.parts().len(),
    })
}

fn trees(plan: &TreesPlan) -> Value {
    let declared = plan.forest().declared();
    let leaves: Vec<u32> = declared.outputs.iter().map(|shape| shape.leaves).collect();
    json!({
        "outputs": plan.conclusions().outputs(),
        "fidelity": fidelity(plan.fidelity()),
        "error": plan.error(),
        "needsKeys": true,
        "structure": if plan.is_public() { "public" } else { "hidden" },
        "trees": plan.trees(),
        "leaves": leaves,
        "conditions": declared.most_conditions,
        "finer": plan.finer(),
        "prepared": plan.prepared_bytes().map(|bytes| message::HEAD + message::PART + bytes),
        "told": plan.told(),
    })
}

fn search(plan: &SearchPlan) -> Value {
    let voting = plan.voting();
    let index = plan.index();
    let blocks = plan.most_records().div_ceil(index.ring_degree()) as f64;
    let [rms, bound] = plan.score_error();
    json!({
        "fidelity": null,
        "error": plan.error(),
        "needsKeys": false,
        "metric": plan.metric().name(),
        "outputs": voting.map_or(plan.most_records(), |own| own.conclusions.outputs()),
        "queryNorm": plan.norms()[1],
        "records": plan.most_records(),
        "neighbours": voting.map(|own| own.neighbours),
        "weights": voting.map(|own| if own.by_distance { "distance" } else { "uniform" }),
        "scoreError": {"rms": rms, "bound": bound, "dependence": plan.dependence()},
        // Of large indices it is beyond 32 bits.
        "memory": index.index_bytes(1) as f64 * blocks,
        "constants": plan.constants(),
    })
}

fn fidelity(own: Option<&Fidelity>) -> Option<Value> {
    own.map(|own| {
        json!({
            "way": own.way, "rows": own.rows, "unseen": own.unseen, "agreement": own.agreement,
            "explained": own.explained, "apart": own.apart,
        })
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
pub fn sizes(plan: &ModelPlan, samples: usize) -> Option<[f64; 2]> {
    if !(1..=plan.rows()).contains(&samples) {
        return None;
    }
    let several = |part: usize| (samples * (message::PART + part)) as f64;
    let [up, down] = match plan {
        ModelPlan::Scores(plan) => {
            let parts = plan.ring().parts();
            let whole = |each: &dyn Fn(usize) -> usize| {
                (0..parts.len()).map(|place| message::PART + each(place)).sum::<usize>() as f64
            };
            let up = whole(&|place| query_bytes(&parts[place], samples));
            [up, whole(&|place| answer_bytes(&parts[place], samples))]
        }
        ModelPlan::Trees(plan) => plan.part_bytes().map(several),
        ModelPlan::Search(plan) => {
            let [up, down, beside] = plan.part_bytes();
            [several(up), several(down) + beside as f64]
        }
    };
    Some([up, down].map(|bytes| message::HEAD as f64 + bytes))
}
