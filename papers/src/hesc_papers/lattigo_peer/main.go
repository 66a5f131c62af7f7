// Lattigo's side of the tables of babenko2020ckksbfv.
//
// The first line is a question in JSON: a scheme, its primes, an operation and lengths of vectors.
// The operation is prepared for each length and its results are checked; the answer names what was
// built. Each further line is answered with microseconds of the processor, by length.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// question is what the first line asks for.
type question struct {
	Scheme       string   `json:"scheme"`
	LogDegree    int      `json:"log_degree"`
	Primes       []uint64 `json:"primes"`
	Special      []uint64 `json:"special"`
	PlainModulus uint64   `json:"plain_modulus"`
	LogScale     int      `json:"log_scale"`
	Operation    string   `json:"operation"`
	Lengths      []int    `json:"lengths"`
}

// built is the answer to the first line: versions, and bytes of a plaintext and of a ciphertext.
type built struct {
	Lattigo    string `json:"lattigo"`
	Go         string `json:"go"`
	Plaintext  int    `json:"plaintext"`
	Ciphertext int    `json:"ciphertext"`
}

func lattigoVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == "github.com/tuneinsight/lattigo/v6" {
				return dependency.Version
			}
		}
	}
	return "unknown"
}

// processorTime is this process's, in nanoseconds, with that of its garbage collector.
func processorTime() (int64, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now)
	return now.Nano(), err
}

// timed is microseconds of each call, by length.
func timed(lengths []int, calls []func() error) (map[string]float64, error) {
	found := make(map[string]float64, len(calls))
	for place, call := range calls {
		before, err := processorTime()
		if err != nil {
			return nil, err
		}
		if err = call(); err != nil {
			return nil, err
		}
		after, err := processorTime()
		if err != nil {
			return nil, err
		}
		found[strconv.Itoa(lengths[place])] = float64(after-before) / 1e3
	}
	return found, nil
}

func serve(lines *bufio.Scanner, answers *json.Encoder) error {
	var asked question
	if !lines.Scan() {
		return fmt.Errorf("no question: the first line has none")
	}
	if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
		return fmt.Errorf("the question is not as expected: %w", err)
	}
	made, err := newLibrary(asked)
	if err != nil {
		return err
	}
	calls := make([]func() error, len(asked.Lengths))
	for place, length := range asked.Lengths {
		if calls[place], err = made.prepared(asked.Operation, length); err != nil {
			return fmt.Errorf("%s of %d numbers: %w", asked.Operation, length, err)
		}
	}
	plain, cipher := made.sizes()
	if err = answers.Encode(built{lattigoVersion(), runtime.Version(), plain, cipher}); err != nil {
		return err
	}
	for lines.Scan() {
		times, err := timed(asked.Lengths, calls)
		if err != nil {
			return err
		}
		if err = answers.Encode(times); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	runtime.GOMAXPROCS(1)
	answers := json.NewEncoder(os.Stdout)
	if err := serve(bufio.NewScanner(os.Stdin), answers); err != nil {
		_ = answers.Encode(map[string]string{"error": err.Error()})
		os.Exit(1)
	}
}
