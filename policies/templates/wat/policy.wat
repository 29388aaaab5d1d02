;; polite: a hand-off is followed, or the addressed agent speaks next, otherwise
;; the agent that has been silent for longest. A complete policy in WebAssembly's text format.
;;
;; A JSON value is represented by a pointer to its start in the input; 0 means
;; no value. Strings are compared and copied with their escapes.
(module
  (memory (export "memory") 2)

  ;; Keys and kinds are JSON strings; phrases end with a zero byte. Address 0
  ;; holds a zero, so that "no value" is an empty scalar.
  (data (i32.const 16)  "\"agents\"")
  (data (i32.const 32)  "\"events\"")
  (data (i32.const 48)  "\"id\"")
  (data (i32.const 64)  "\"kind\"")
  (data (i32.const 80)  "\"from\"")
  (data (i32.const 96)  "\"addressed\"")
  (data (i32.const 112) "\"eligible\"")
  (data (i32.const 128) "\"last_turn\"")
  (data (i32.const 144) "\"message\"")
  (data (i32.const 160) "\"human\"")
  (data (i32.const 176) "\"\"")
  (data (i32.const 192) "\"handoff\"")
  (data (i32.const 208) "\"to\"")
  (data (i32.const 224) "\"reason\"")
  (data (i32.const 256) "{\"action\":\"speak\",\"agent\":\"\00")
  (data (i32.const 320) "\",\"reason\":\"\00")
  (data (i32.const 352) " addressed \00")
  (data (i32.const 384) " has been silent for longest\00")
  (data (i32.const 416) " hands off to \00")
  (data (i32.const 432) ": \00")
  (data (i32.const 448) "\"}\00")
  (data (i32.const 512) "{\"action\":\"decline\",\"reason\":\"nobody else can speak now\"}\00")

  (global $out (mut i32) (i32.const 0)) ;; the end of the answer

  ;; ---- exports for the host ----

  (func (export "roompolicy_abi_1"))

  ;; The input starts at the second page; the answer follows it. An answer
  ;; contains at most three ids, a reason and the phrases.
  (func (export "roompolicy_alloc") (param $size i32) (result i32)
    (local $pages i32)
    (if (i32.gt_u (local.get $size) (i32.const 0x1000000)) (then (return (i32.const 0))))
    (local.set $pages
      (i32.add (i32.const 2) (i32.shr_u (i32.mul (local.get $size) (i32.const 4)) (i32.const 16))))
    (if (i32.gt_u (local.get $pages) (memory.size))
      (then (if (i32.eq (memory.grow (i32.sub (local.get $pages) (memory.size))) (i32.const -1))
        (then (return (i32.const 0))))))
    (i32.const 0x10000))

  (func (export "roompolicy_decide") (param $in i32) (param $len i32) (result i64)
    (local $start i32) (local $agents i32) (local $said i32)
    (local.set $start (i32.add (local.get $in) (local.get $len)))
    (global.set $out (local.get $start))
    (i32.store8 (local.get $start) (i32.const 0))
    (local.set $agents (call $find (local.get $in) (i32.const 16)))
    (local.set $said (call $last_said (call $find (local.get $in) (i32.const 32))))
    (if (i32.eqz (call $hand_off (local.get $agents) (local.get $said) (call $find (local.get $in) (i32.const 192))))
      (then (call $decide (local.get $agents) (local.get $said))))
    (i64.or
      (i64.shl (i64.extend_i32_u (local.get $start)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (global.get $out) (local.get $start)))))

  ;; ---- the policy ----

  ;; Follows the hand-off, unless the newest message is of a person, and reports
  ;; whether it did.
  (func $hand_off (param $agents i32) (param $said i32) (param $handoff i32) (result i32)
    (local $a i32)
    (if (i32.eqz (local.get $handoff)) (then (return (i32.const 0))))
    (if (call $same (call $find (local.get $said) (i32.const 64)) (i32.const 160)) (then (return (i32.const 0))))
    (local.set $a (call $agent (local.get $agents) (call $find (local.get $handoff) (i32.const 208))))
    (if (i32.eqz (call $able (local.get $a) (i32.const 176))) (then (return (i32.const 0))))
    (call $speak (local.get $a))
    (call $copy (call $find (local.get $handoff) (i32.const 80)))
    (call $say (i32.const 416))
    (call $copy (call $find (local.get $a) (i32.const 48)))
    (call $say (i32.const 432))
    (call $copy (call $find (local.get $handoff) (i32.const 224)))
    (call $say (i32.const 448))
    (i32.const 1))

  (func $decide (param $agents i32) (param $said i32)
    (local $from i32) (local $a i32)
    (local.set $from (i32.const 176))
    (if (local.get $said) (then
      (local.set $from (call $find (local.get $said) (i32.const 80)))
      (local.set $a (call $addressed (local.get $agents) (local.get $said) (local.get $from)))
      (if (local.get $a) (then
        (call $speak (local.get $a))
        (call $copy (local.get $from))
        (call $say (i32.const 352))
        (call $copy (call $find (local.get $a) (i32.const 48)))
        (call $say (i32.const 448))
        (return)))))
    (local.set $a (call $least_recent (local.get $agents) (local.get $from)))
    (if (local.get $a) (then
      (call $speak (local.get $a))
      (call $copy (call $find (local.get $a) (i32.const 48)))
      (call $say (i32.const 384))
      (call $say (i32.const 448))
      (return)))
    (call $say (i32.const 512)))

  ;; The newest message event.
  (func $last_said (param $events i32) (result i32)
    (local $e i32) (local $kind i32) (local $last i32)
    (local.set $e (call $first (local.get $events)))
    (block $done (loop $each
      (br_if $done (i32.eqz (local.get $e)))
      (local.set $kind (call $find (local.get $e) (i32.const 64)))
      (if (i32.or (call $same (local.get $kind) (i32.const 144)) (call $same (local.get $kind) (i32.const 160)))
        (then (local.set $last (local.get $e))))
      (local.set $e (call $after (local.get $e)))
      (br $each)))
    (local.get $last))

  ;; The first eligible agent that $said addresses.
  (func $addressed (param $agents i32) (param $said i32) (param $from i32) (result i32)
    (local $id i32) (local $a i32)
    (local.set $id (call $first (call $find (local.get $said) (i32.const 96))))
    (block $none (loop $each
      (br_if $none (i32.eqz (local.get $id)))
      (local.set $a (call $agent (local.get $agents) (local.get $id)))
      (if (call $able (local.get $a) (local.get $from)) (then (return (local.get $a))))
      (local.set $id (call $after (local.get $id)))
      (br $each)))
    (i32.const 0))

  (func $agent (param $agents i32) (param $id i32) (result i32)
    (local $a i32)
    (local.set $a (call $first (local.get $agents)))
    (block $none (loop $each
      (br_if $none (i32.eqz (local.get $a)))
      (if (call $same (call $find (local.get $a) (i32.const 48)) (local.get $id)) (then (return (local.get $a))))
      (local.set $a (call $after (local.get $a)))
      (br $each)))
    (i32.const 0))

  ;; Reports whether $a is an eligible agent other than $except.
  (func $able (param $a i32) (param $except i32) (result i32)
    (if (i32.eqz (local.get $a)) (then (return (i32.const 0))))
    (i32.and
      (i32.eq (i32.load8_u (call $find (local.get $a) (i32.const 112))) (i32.const 0x74)) ;; the t of true
      (i32.eqz (call $same (call $find (local.get $a) (i32.const 48)) (local.get $except)))))

  (func $least_recent (param $agents i32) (param $except i32) (result i32)
    (local $a i32) (local $best i32) (local $turn i64) (local $least i64)
    (local.set $a (call $first (local.get $agents)))
    (block $done (loop $each
      (br_if $done (i32.eqz (local.get $a)))
      (if (call $able (local.get $a) (local.get $except)) (then
        (local.set $turn (call $int (call $find (local.get $a) (i32.const 128))))
        (if (i32.or (i32.eqz (local.get $best)) (i64.lt_s (local.get $turn) (local.get $least)))
          (then
            (local.set $best (local.get $a))
            (local.set $least (local.get $turn))))))
      (local.set $a (call $after (local.get $a)))
      (br $each)))
    (local.get $best))

  ;; ---- writing ----

  (func $speak (param $a i32)
    (call $say (i32.const 256))
    (call $copy (call $find (local.get $a) (i32.const 48)))
    (call $say (i32.const 320)))

  (func $put (param $c i32)
    (i32.store8 (global.get $out) (local.get $c))
    (global.set $out (i32.add (global.get $out) (i32.const 1))))

  ;; Writes a phrase.
  (func $say (param $p i32)
    (block $done (loop $each
      (br_if $done (i32.eqz (i32.load8_u (local.get $p))))
      (call $put (i32.load8_u (local.get $p)))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br $each))))

  ;; Writes the inside of a JSON string.
  (func $copy (param $p i32)
    (local $end i32)
    (local.set $end (i32.sub (call $pass (local.get $p)) (i32.const 1)))
    (loop $each
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (if (i32.lt_u (local.get $p) (local.get $end)) (then
        (call $put (i32.load8_u (local.get $p)))
        (br $each)))))

  ;; ---- reading ----

  ;; Skips white space.
  (func $space (param $p i32) (result i32)
    (local $c i32)
    (block $done (loop $each
      (local.set $c (i32.load8_u (local.get $p)))
      (br_if $done (i32.eqz (local.get $c)))
      (br_if $done (i32.gt_u (local.get $c) (i32.const 0x20)))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br $each)))
    (local.get $p))

  ;; Skips one value and returns its end.
  (func $pass (param $p i32) (result i32)
    (local $c i32) (local $depth i32)
    (loop $each
      (local.set $p (call $space (local.get $p)))
      (local.set $c (i32.load8_u (local.get $p)))
      (if (i32.eq (local.get $c) (i32.const 0x22)) ;; "
        (then (local.set $p (call $string (local.get $p))))
        (else (if (call $opens (local.get $c))
          (then
            (local.set $depth (i32.add (local.get $depth) (i32.const 1)))
            (local.set $p (i32.add (local.get $p) (i32.const 1))))
          (else (if (call $closes (local.get $c))
            (then
              (local.set $depth (i32.sub (local.get $depth) (i32.const 1)))
              (local.set $p (i32.add (local.get $p) (i32.const 1))))
            (else (if (call $between (local.get $c))
              (then (local.set $p (i32.add (local.get $p) (i32.const 1))))
              (else (local.set $p (call $scalar (local.get $p)))))))))))
      (br_if $each (i32.and (i32.gt_s (local.get $depth) (i32.const 0)) (i32.ne (local.get $c) (i32.const 0)))))
    (local.get $p))

  (func $opens (param $c i32) (result i32) ;; { or [
    (i32.or (i32.eq (local.get $c) (i32.const 0x7b)) (i32.eq (local.get $c) (i32.const 0x5b))))

  (func $closes (param $c i32) (result i32) ;; } or ]
    (i32.or (i32.eq (local.get $c) (i32.const 0x7d)) (i32.eq (local.get $c) (i32.const 0x5d))))

  (func $between (param $c i32) (result i32) ;; , or :
    (i32.or (i32.eq (local.get $c) (i32.const 0x2c)) (i32.eq (local.get $c) (i32.const 0x3a))))

  (func $string (param $p i32) (result i32)
    (local $c i32)
    (loop $each
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (local.set $c (i32.load8_u (local.get $p)))
      (if (i32.eq (local.get $c) (i32.const 0x5c)) ;; backslash: the next byte does not end the string
        (then
          (local.set $p (i32.add (local.get $p) (i32.const 1)))
          (br $each)))
      (br_if $each (i32.ne (local.get $c) (i32.const 0x22))))
    (i32.add (local.get $p) (i32.const 1)))

  ;; Skips a number, true, false or null.
  (func $scalar (param $p i32) (result i32)
    (local $c i32)
    (block $done (loop $each
      (local.set $c (i32.load8_u (local.get $p)))
      (br_if $done (i32.le_u (local.get $c) (i32.const 0x20)))
      (br_if $done (i32.or (call $between (local.get $c)) (call $closes (local.get $c))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br $each)))
    (local.get $p))

  ;; The value of the member $key of the object at $p.
  (func $find (param $p i32) (param $key i32) (result i32)
    (local $name i32)
    (if (i32.ne (i32.load8_u (local.get $p)) (i32.const 0x7b)) (then (return (i32.const 0))))
    (local.set $name (call $first (local.get $p)))
    (block $none (loop $each
      (br_if $none (i32.eqz (local.get $name)))
      (local.set $p (call $space (call $pass (local.get $name)))) ;; the colon
      (local.set $p (call $space (i32.add (local.get $p) (i32.const 1))))
      (if (call $same (local.get $name) (local.get $key)) (then (return (local.get $p))))
      (local.set $name (call $after (local.get $p)))
      (br $each)))
    (i32.const 0))

  ;; The first member of the object or array at $p.
  (func $first (param $p i32) (result i32)
    (if (i32.eqz (call $opens (i32.load8_u (local.get $p)))) (then (return (i32.const 0))))
    (local.set $p (call $space (i32.add (local.get $p) (i32.const 1))))
    (select (i32.const 0) (local.get $p) (call $closes (i32.load8_u (local.get $p)))))

  ;; The next member after the value at $p and a comma.
  (func $after (param $p i32) (result i32)
    (local.set $p (call $space (call $pass (local.get $p))))
    (if (i32.ne (i32.load8_u (local.get $p)) (i32.const 0x2c)) (then (return (i32.const 0))))
    (call $space (i32.add (local.get $p) (i32.const 1))))

  ;; Reports whether two JSON strings have the same bytes.
  (func $same (param $a i32) (param $b i32) (result i32)
    (local $end i32)
    (if (i32.ne (i32.load8_u (local.get $a)) (i32.const 0x22)) (then (return (i32.const 0))))
    (local.set $end (call $string (local.get $a)))
    (loop $each
      (if (i32.ne (i32.load8_u (local.get $a)) (i32.load8_u (local.get $b))) (then (return (i32.const 0))))
      (local.set $a (i32.add (local.get $a) (i32.const 1)))
      (local.set $b (i32.add (local.get $b) (i32.const 1)))
      (br_if $each (i32.lt_u (local.get $a) (local.get $end))))
    (i32.const 1))

  (func $int (param $p i32) (result i64)
    (local $n i64) (local $digit i32)
    (block $done (loop $each
      (local.set $digit (i32.sub (i32.load8_u (local.get $p)) (i32.const 0x30)))
      (br_if $done (i32.gt_u (local.get $digit) (i32.const 9)))
      (local.set $n (i64.add (i64.mul (local.get $n) (i64.const 10)) (i64.extend_i32_u (local.get $digit))))
      (local.set $p (i32.add (local.get $p) (i32.const 1)))
      (br $each)))
    (local.get $n)))
