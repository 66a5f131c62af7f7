use std::time::Instant;
use hesc_circuits::gates::integers::{self, Adder, Signs};
use hesc_circuits::gates::slots::Plan;
use hesc_circuits::gates::{Monitor, Netlist};
use hesc_schemes::Assurance;
use hesc_schemes::presets::Preset;
use hesc_schemes::rlwe::{Rlwe, Ciphertext};
use hesc_math::AesCtrRng;
use rand_core::{Rng as _, SeedableRng};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let preset = Preset::named(&args[1]).unwrap();
    let scheme = Rlwe::new(preset.vectors(1.0).unwrap().unwrap(), preset.assurance()).unwrap();
    let _ = Assurance::Insecure;
    let rng = &mut AesCtrRng::from_seed([1; 32]);
    let (secret, public) = scheme.generate_keys(rng);
    let relin = scheme.generate_relin_key(&secret, rng).unwrap();
    let speed = scheme.measured_speed();
    println!("{} slots {} levels {} depth {} transform {:.1} us pass {:.1} us", args[1], scheme.slot_count(), scheme.levels(), scheme.depth(), speed.transform*1e6, speed.pass*1e6);
    let t_unit = 20e-6;
    let circuits: Vec<(String, Netlist)> = args[2..].iter().map(|name| {
        let (kind, width) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap());
        let w: usize = width.parse().unwrap();
        let n = match kind {
            "sk" => integers::adder(Adder::Sklansky, w),
            "bk" => integers::adder(Adder::BrentKung, w),
            "ks" => integers::adder(Adder::KoggeStone, w),
            "la" => integers::adder(Adder::Lookahead, w),
            "rp" => integers::adder(Adder::Ripple, w),
            "less" => integers::less(w, false),
            "min" => integers::minimum(w, false),
            "mul" => integers::multiplier(Adder::Sklansky, w, 2*w, Signs::Unsigned),
            "mulbk" => integers::multiplier(Adder::BrentKung, w, 2*w, Signs::Unsigned),
            "div" => integers::divider(integers::Division::Restoring{digit:2}, Adder::Sklansky, w),
            _ => panic!(),
        };
        (name.clone(), n.unwrap())
    }).collect();
    for (name, circuit) in circuits {
        let start = Instant::now();
        let plan = Plan::new(&circuit, &scheme, 0);
        let planned = start.elapsed().as_secs_f64();
        let plan = match plan { Ok(p) => p, Err(e) => { println!("{name}: {e}"); continue } };
        let wires = circuit.input_wires();
        let n = scheme.slot_count();
        let words: Vec<u64> = (0..wires * n.div_ceil(64)).map(|_| rng.next_u64()).collect();
        let w = n.div_ceil(64);
        let bit = |row: &[u64], i: usize| (row[i/64] >> (i%64)) & 1;
        let inputs: Vec<Ciphertext> = (0..wires).map(|i| {
            let bits: Vec<i64> = (0..n).map(|j| bit(&words[i*w..(i+1)*w], j) as i64).collect();
            scheme.encrypt(&public, &scheme.encode_integers(&bits).unwrap(), rng).unwrap()
        }).collect();
        let refs: Vec<&Ciphertext> = inputs.iter().collect();
        let monitor = Monitor::default();
        let start = Instant::now();
        let outs = plan.evaluate(&scheme, &relin, &refs, &monitor).unwrap();
        let took = start.elapsed().as_secs_f64();
        let clear = circuit.evaluate(&words, w).unwrap();
        let mut wrong = 0;
        let mut least = f64::INFINITY;
        for (k, out) in outs.iter().flatten().enumerate() {
            least = least.min(scheme.noise_budget(out));
            let found = scheme.decode_integers(&scheme.decrypt(&secret, out).unwrap()).unwrap();
            for j in 0..n { if found[j] != bit(&clear[k*w..(k+1)*w], j) as i64 { wrong += 1; } }
        }
        println!("{name}: sums {} tensors {} depth {} levels {:?} bits {:?} predicted {:.3}s took {:.3}s = {:.0} T, {:.2} T each; peak {:.0} MB plan {:.3}s wrong {wrong} budget {least:.1}",
            plan.products(), plan.tensors(), plan.depth(), plan.levels(), plan.levels().iter().map(|&l| scheme.log2_modulus_of(l).round() as i64).collect::<Vec<_>>(), plan.seconds(&speed), took, took/t_unit, took/t_unit/n as f64, plan.peak_bytes() as f64/1e6, planned);
    }
}
