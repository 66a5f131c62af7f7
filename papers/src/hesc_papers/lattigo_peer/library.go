package main

import (
	"fmt"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
)

// evaluator is what the evaluators of all schemes have.
type evaluator interface {
	Add(a *rlwe.Ciphertext, b rlwe.Operand, into *rlwe.Ciphertext) error
	Mul(a *rlwe.Ciphertext, b rlwe.Operand, into *rlwe.Ciphertext) error
	Relinearize(a, into *rlwe.Ciphertext) error
}

// scheme is where BFV, BGV and CKKS differ.
type scheme interface {
	evaluator
	// blank is a plaintext without numbers.
	blank() *rlwe.Plaintext
	// encoder encodes the vector of a length into one plaintext, again and again.
	encoder(length int, into *rlwe.Plaintext) func() error
	// decode finds all numbers of a plaintext.
	decode(of *rlwe.Plaintext) error
	// rotate moves the numbers by one.
	rotate(a, into *rlwe.Ciphertext) error
	// wrong says whether the numbers decoded last differ from the operation's on the vector.
	wrong(operation string, length int) error
}

// library is a scheme with keys.
type library struct {
	scheme
	params         rlwe.ParameterProvider
	secret, public *rlwe.Encryptor
	decryptor      *rlwe.Decryptor
}

// keys are those of an evaluator: for products and a rotation by one.
func keys(params rlwe.ParameterProvider) (*rlwe.SecretKey, rlwe.EvaluationKeySet) {
	generator := rlwe.NewKeyGenerator(params)
	secret := generator.GenSecretKeyNew()
	rotation := params.GetRLWEParameters().GaloisElement(1)
	return secret, rlwe.NewMemEvaluationKeySet(
		generator.GenRelinearizationKeyNew(secret),
		generator.GenGaloisKeyNew(rotation, secret),
	)
}

func newLibrary(asked question) (*library, error) {
	var params rlwe.ParameterProvider
	var secret *rlwe.SecretKey
	var made scheme
	var err error
	switch asked.Scheme {
	case "bfv", "bgv":
		params, secret, made, err = newIntegers(asked)
	case "ckks":
		params, secret, made, err = newComplex(asked)
	default:
		err = fmt.Errorf("there is no scheme %q: bfv, bgv or ckks", asked.Scheme)
	}
	if err != nil {
		return nil, err
	}
	public := rlwe.NewKeyGenerator(params).GenPublicKeyNew(secret)
	return &library{
		scheme:    made,
		params:    params,
		secret:    rlwe.NewEncryptor(params, secret),
		public:    rlwe.NewEncryptor(params, public),
		decryptor: rlwe.NewDecryptor(params, secret),
	}, nil
}

// sizes are bytes of a plaintext and of a ciphertext, as they are written.
func (of *library) sizes() (int, int) {
	return of.blank().BinarySize(), rlwe.NewCiphertext(of.params, 1).BinarySize()
}

// prepared is an operation on the vector of a length, checked once. Results go into places that are
// there before: making them is not in its time.
func (of *library) prepared(operation string, length int) (func() error, error) {
	plain, decrypted := of.blank(), of.blank()
	encode := of.encoder(length, plain)
	if err := encode(); err != nil {
		return nil, err
	}
	x, err := of.public.EncryptNew(plain)
	if err != nil {
		return nil, err
	}
	y, err := of.public.EncryptNew(plain)
	if err != nil {
		return nil, err
	}
	product := rlwe.NewCiphertext(of.params, 2)
	*product.MetaData = *x.MetaData
	if err = of.Mul(x, y, product); err != nil {
		return nil, err
	}
	result := x.CopyNew()
	if operation == "multiply" {
		result = product.CopyNew()
	}
	call, ok := map[string]func() error{
		"encode":          encode,
		"decode":          func() error { return of.decode(decrypted) },
		"encrypt_secret":  func() error { return of.secret.Encrypt(plain, result) },
		"encrypt_public":  func() error { return of.public.Encrypt(plain, result) },
		"decrypt":         func() error { of.decryptor.Decrypt(x, decrypted); return nil },
		"add":             func() error { return of.Add(x, y, result) },
		"multiply_scalar": func() error { return of.Mul(x, 7, result) },
		"multiply":        func() error { return of.Mul(x, y, result) },
		"relinearise":     func() error { return of.Relinearize(product, result) },
		"rotate":          func() error { return of.rotate(x, result) },
	}[operation]
	if !ok {
		return nil, fmt.Errorf("there is no such operation")
	}
	of.decryptor.Decrypt(x, decrypted)
	if err = call(); err != nil {
		return nil, err
	}
	return call, of.check(operation, length, plain, decrypted, result)
}

// check decrypts and decodes whatever the operation left.
func (of *library) check(
	operation string, length int, plain, decrypted *rlwe.Plaintext, result *rlwe.Ciphertext,
) error {
	found := of.blank()
	switch operation {
	case "encode":
		found = plain
	case "decode", "decrypt":
		found = decrypted
	default:
		of.decryptor.Decrypt(result, found)
	}
	if err := of.decode(found); err != nil {
		return err
	}
	return of.wrong(operation, length)
}

// expected is a slot of the result in a row of that many slots, which begins with the vector.
func expected[number uint64 | complex128](operation string, vector []number, slot, row int) number {
	at := func(place int) number {
		if place %= row; place < len(vector) {
			return vector[place]
		}
		return 0
	}
	switch value := at(slot); operation {
	case "add":
		return value + value
	case "multiply_scalar":
		return 7 * value
	case "multiply", "relinearise":
		return value * value
	case "rotate":
		return at(slot + 1)
	default:
		return value
	}
}
