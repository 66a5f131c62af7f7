package main

import (
	"fmt"
	"math/cmplx"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/bgv"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// integers are BFV and BGV: one scheme in Lattigo, with two products.
type integers struct {
	*bgv.Evaluator
	params bgv.Parameters
	coder  *bgv.Encoder
	found  []uint64
}

func newIntegers(asked question) (rlwe.ParameterProvider, *rlwe.SecretKey, scheme, error) {
	params, err := bgv.NewParametersFromLiteral(bgv.ParametersLiteral{
		LogN: asked.LogDegree, Q: asked.Primes, P: asked.Special,
		PlaintextModulus: asked.PlainModulus,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	secret, evaluation := keys(params)
	scaleInvariant := asked.Scheme == "bfv"
	return params, secret, &integers{
		bgv.NewEvaluator(params, evaluation, scaleInvariant),
		params, bgv.NewEncoder(params), make([]uint64, params.MaxSlots()),
	}, nil
}

func integerVector(length int) []uint64 {
	vector := make([]uint64, length)
	for place := range vector {
		vector[place] = uint64(place % 1000)
	}
	return vector
}

func (of *integers) blank() *rlwe.Plaintext {
	return bgv.NewPlaintext(of.params, of.params.MaxLevel())
}

func (of *integers) encoder(length int, into *rlwe.Plaintext) func() error {
	vector := integerVector(length)
	return func() error { return of.coder.Encode(vector, into) }
}

func (of *integers) decode(plain *rlwe.Plaintext) error {
	return of.coder.Decode(plain, of.found)
}

func (of *integers) rotate(a, into *rlwe.Ciphertext) error {
	return of.RotateColumns(a, 1, into)
}

func (of *integers) wrong(operation string, length int) error {
	vector, row := integerVector(length), len(of.found)/2
	rows := [2][]uint64{vector[:min(row, length)], vector[min(row, length):]}
	for slot, found := range of.found {
		right := expected(operation, rows[slot/row], slot%row, row) % of.params.PlaintextModulus()
		if found != right {
			return fmt.Errorf("slot %d is %d and should be %d", slot, found, right)
		}
	}
	return nil
}

// complexes are CKKS.
type complexes struct {
	*ckks.Evaluator
	params ckks.Parameters
	coder  *ckks.Encoder
	found  []complex128
}

func newComplex(asked question) (rlwe.ParameterProvider, *rlwe.SecretKey, scheme, error) {
	params, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: asked.LogDegree, Q: asked.Primes, P: asked.Special,
		LogDefaultScale: asked.LogScale,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	secret, evaluation := keys(params)
	return params, secret, &complexes{
		ckks.NewEvaluator(params, evaluation),
		params, ckks.NewEncoder(params), make([]complex128, params.MaxSlots()),
	}, nil
}

func complexVector(length int) []complex128 {
	vector := make([]complex128, length)
	for place := range vector {
		vector[place] = cmplx.Exp(complex(0, float64(place)))
	}
	return vector
}

func (of *complexes) blank() *rlwe.Plaintext {
	return ckks.NewPlaintext(of.params, of.params.MaxLevel())
}

func (of *complexes) encoder(length int, into *rlwe.Plaintext) func() error {
	vector := complexVector(length)
	return func() error { return of.coder.Encode(vector, into) }
}

func (of *complexes) decode(plain *rlwe.Plaintext) error {
	return of.coder.Decode(plain, of.found)
}

func (of *complexes) rotate(a, into *rlwe.Ciphertext) error {
	return of.Rotate(a, 1, into)
}

// tolerance is beyond the errors of the smallest set, whose scale is 2^30.
const tolerance = 1e-2

func (of *complexes) wrong(operation string, length int) error {
	vector, row := complexVector(length), len(of.found)
	for slot, found := range of.found {
		right := expected(operation, vector, slot, row)
		if cmplx.Abs(found-right) > tolerance {
			return fmt.Errorf("slot %d is %v and should be %v", slot, found, right)
		}
	}
	return nil
}
