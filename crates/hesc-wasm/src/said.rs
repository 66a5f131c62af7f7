//! What a plan says, for who shows it.

use hesc_circuits::ring_products::{answer_bytes, query_bytes};
use hesc_client::{
    Classes, Conclusions, Fidelity, ModelPlan, Plan, SearchPlan, TreesPlan, message,
};
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;

/// An object of JavaScript, field by field.
struct Fields(Object);

impl Fields {
    fn new() -> Self {
        Self(Object::new())
    }

    fn with(self, name: &str, value: impl Into<JsValue>) -> Self {
        // A new object takes every field.
        let _ = Reflect::set(&self.0, &JsValue::from_str(name), &value.into());
        self
    }

    fn maybe(self, name: &str, value: Option<impl Into<JsValue>>) -> Self {
        self.with(name, value.map_or(JsValue::NULL, Into::into))
    }

    fn list<T: Into<JsValue>>(self, name: &str, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, list(values))
    }
}

fn list<T: Into<JsValue>>(values: impl IntoIterator<Item = T>) -> Array {
    values.into_iter().map(Into::into).collect()
}

/// Fields of a plan, public all of them.
pub fn said(plan: &ModelPlan) -> Object {
    let spec = plan.scheme().spec();
    let (columns, own) = (plan.columns(), plan.conclusions());
    let link = own.map(Conclusions::link);
    let found = Fields::new()
        .with("protocol", plan.protocol())
        .with("inputs", columns.steps().inputs())
        .list("names", columns.names().iter().map(String::as_str))
        .list("kinds", plan.kinds().iter().map(|kind| kind.name()))
        .with("features", columns.steps().width())
        .maybe("classes", own.and_then(Conclusions::classes).map(classes))
        .with("link", link.map_or("none", |link| link.name()))
        .with("probabilities", link.is_some_and(|link| link.has_probabilities()))
        .with("calibrated", own.is_some_and(|own| own.calibration().is_some()))
        .with("rows", plan.rows())
        .with("ringDegree", spec.ring_degree())
        .with("assurance", spec.assurance().name());
    let found = match plan {
        ModelPlan::Scores(plan) => scores(plan, found),
        ModelPlan::Trees(plan) => trees(plan, found),
        ModelPlan::Search(plan) => search(plan, found),
    };
    found.0
}

fn scores(plan: &Plan, found: Fields) -> Fields {
    let ring = plan.ring();
    let (low, high) = ring.ranges();
    let hiding = ring.parts()[0].declared().hiding();
    found
        .list("low", low.iter().copied())
        .list("high", high.iter().copied())
        .with("outputs", plan.conclusions().outputs())
        .maybe("fidelity", plan.fidelity().map(fidelity))
        .with("error", ring.error())
        .with("deploymentError", ring.deployment_error())
        .maybe("hidden", hiding.map(|hiding| hiding.answers as f64))
        .with("needsKeys", hiding.is_some())
        .with("parts", ring.parts().len())
}

fn trees(plan: &TreesPlan, found: Fields) -> Fields {
    let declared = plan.forest().declared();
    let head = message::HEAD + message::PART;
    let [categories, missing] = plan.told().map(list);
    found
        .with("outputs", plan.conclusions().outputs())
        .maybe("fidelity", plan.fidelity().map(fidelity))
        .with("error", plan.error())
        .with("needsKeys", true)
        .with("structure", if plan.is_public() { "public" } else { "hidden" })
        .list("trees", plan.trees().iter().copied())
        .list("leaves", declared.outputs.iter().map(|shape| shape.leaves))
        .with("conditions", declared.most_conditions)
        .with("finer", plan.finer())
        .list("prepared", plan.prepared_bytes().map(|bytes| head + bytes))
        .list("told", [categories, missing])
}

fn search(plan: &SearchPlan, found: Fields) -> Fields {
    let (voting, index) = (plan.voting(), plan.index());
    let blocks = plan.most_records().div_ceil(index.ring_degree()) as f64;
    let [rms, bound] = plan.score_error();
    let errors =
        Fields::new().with("rms", rms).with("bound", bound).with("dependence", plan.dependence());
    found
        .with("outputs", voting.map_or(plan.most_records(), |own| own.conclusions.outputs()))
        .with("fidelity", JsValue::NULL)
        .maybe("error", plan.error())
        .with("needsKeys", false)
        .with("metric", plan.metric().name())
        .with("queryNorm", plan.norms()[1])
        .with("records", plan.most_records())
        .maybe("neighbours", voting.map(|own| own.neighbours))
        .maybe("weights", voting.map(|own| if own.by_distance { "distance" } else { "uniform" }))
        .with("scoreError", errors.0)
        // Of large indices it is beyond 32 bits.
        .with("memory", index.index_bytes(1) as f64 * blocks)
        .with("constants", plan.constants())
}

fn fidelity(own: &Fidelity) -> Object {
    let found = Fields::new()
        .with("way", own.way)
        .with("rows", own.rows as f64)
        .with("unseen", own.unseen)
        .maybe("agreement", own.agreement)
        .maybe("explained", own.explained)
        .with("apart", own.apart);
    found.0
}

/// Classes with their type: whole numbers as texts, which JavaScript's numbers may not hold.
fn classes(classes: &Classes) -> Object {
    let (kind, values) = match classes {
        Classes::Truths(values) => ("bool", list(values.iter().copied())),
        Classes::Wholes(values) => ("int", list(values.iter().map(ToString::to_string))),
        Classes::Numbers(values) => ("float", list(values.iter().copied())),
        Classes::Texts(values) => ("str", list(values.iter().map(String::as_str))),
    };
    Fields::new().with("type", kind).with("values", values).0
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
