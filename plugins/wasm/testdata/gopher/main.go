// Gopher does much of what Go can, and prints what came of it: the same before
// and after its module was straightened.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

type node struct {
	left, right *node
	value       int
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.value + n.left.sum() + n.right.sum()
}

func tree(depth, value int) *node {
	if depth == 0 {
		return nil
	}
	return &node{tree(depth-1, 2*value), tree(depth-1, 2*value+1), value}
}

// deep grows the stack while callers hold pointers to it.
func deep(n int, above *[4]int) int {
	var here [4]int
	here[n%4] = n
	above[n%4]++
	if n == 0 {
		return here[0]
	}
	r := deep(n-1, &here)
	return r + here[0] + here[1] + here[2] + here[3]
}

// caught runs f and says what it panicked with.
func caught(f func()) (said string) {
	defer func() {
		if e := recover(); e != nil {
			said = fmt.Sprint("caught: ", e)
		}
	}()
	f()
	return "nothing"
}

func panics() {
	var none *node
	var table map[string]int
	var any any = "text"
	zero, list := len(table), []int{1, 2, 3}
	for _, f := range []func(){
		func() { fmt.Println(none.value) },
		func() { none.value = 1 },
		func() { fmt.Println(list[zero+3]) },
		func() { fmt.Println(list[2 : zero+1]) },
		func() { table["x"] = 1 },
		func() { fmt.Println(any.(int)) },
		func() { fmt.Println(1 / zero) },
		func() { panic(errors.New("own")) },
		func() {},
	} {
		fmt.Println(caught(f))
	}
}

func deferred() (n int, err error) {
	for i := range 3 {
		defer func() { n = n*10 + i }()
	}
	defer func() {
		if e := recover(); e != nil {
			err = e.(error)
		}
	}()
	var m map[int]int
	m[1] = 2
	return 7, nil
}

func loops(n int) (trace []int) {
outer:
	for i := 0; i < n; i++ {
		for j := i; ; j++ {
			switch {
			case j%7 == 3:
				continue outer
			case j > 2*n:
				break outer
			case j%2 == 0:
				trace = append(trace, i*100+j)
				fallthrough
			default:
				if j*i%5 == 4 {
					goto next
				}
			}
			for k := range j {
				if k*k > j {
					trace = append(trace, -k)
					break
				}
			}
		}
	next:
		trace = append(trace, i)
	}
	return trace
}

func floats() {
	all := []float64{0, math.Copysign(0, -1), 1.5, -2, math.Inf(1), math.Inf(-1), math.NaN(), 1e300}
	for _, a := range all {
		s := ""
		for _, b := range all {
			n := 0
			if a < b {
				n |= 1
			}
			if !(a < b) {
				n |= 2
			}
			if a >= b || a != b {
				n |= 4
			}
			if !(a == b) && !(a > b) {
				n |= 8
			}
			s += fmt.Sprintf("%x", n)
		}
		fmt.Println(s, a, int64(min(max(a, -9), 9)))
	}
}

func goroutines() {
	var lock sync.Mutex
	var all sync.WaitGroup
	numbers, done := make(chan int), make(chan string, 1)
	total := 0
	for w := range 8 {
		all.Go(func() {
			for n := range numbers {
				x := 0
				for i := range n {
					x += i ^ w&1
					if i%97 == 0 {
						runtime.Gosched()
					}
				}
				lock.Lock()
				total += n + 0*x
				lock.Unlock()
			}
		})
	}
	go func() {
		for i := range 300 {
			numbers <- i
		}
		close(numbers)
		all.Wait()
		done <- "done"
	}()
	select {
	case s := <-done:
		fmt.Println(s, total)
	}
}

func seq(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i * i) {
				return
			}
		}
	}
}

type shape interface{ area() float64 }

type (
	square float64
	circle struct{ r float64 }
)

func (s square) area() float64  { return float64(s * s) }
func (c *circle) area() float64 { return 3 * c.r * c.r }

func main() {
	fmt.Println(tree(10, 1).sum())
	var top [4]int
	fmt.Println(deep(20000, &top), top)
	panics()
	fmt.Println(deferred())
	fmt.Println(loops(12))
	floats()
	goroutines()
	for n := range seq(100) {
		if n > 50 {
			break
		}
		fmt.Print(n, " ")
	}
	fmt.Println()
	shapes, area := []shape{square(2), &circle{2}, square(3)}, 0.0
	for _, s := range shapes {
		area += s.area()
	}
	words := strings.Fields("one two three four five six seven eight nine ten")
	count := map[int][]string{}
	for _, w := range words {
		count[len(w)] = append(count[len(w)], strings.ToUpper(w))
	}
	slices.SortFunc(words, func(a, b string) int { return strings.Compare(b, a) })
	fmt.Println(area, words, count)
	var keep [][]*node
	for i := range 50 {
		keep = append(keep, []*node{tree(8, i)})
		if i%10 == 0 {
			runtime.GC()
		}
	}
	sum := 0
	for _, k := range keep {
		sum += k[0].sum()
	}
	fmt.Println(sum)
	if caught(func() { deep(1000, nil) }) == "nothing" {
		os.Exit(3)
	}
}
