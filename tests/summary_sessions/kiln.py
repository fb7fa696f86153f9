"""Firmware of a kiln's controller, in English, by Codex: a firing that went too hot."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from tests.summary_sessions.codex_log import CodexLog

RULES = """- Firmware in Rust, `no_std`, for the STM32G0 board rev C.
- `cargo xtask check` runs fmt, clippy and the unit tests on the host.
- The simulator is `kiln-sim`; profiles live in profiles/*.ron."""

ASK = """Kiln 3 overshot again last night. The profile was cone 6, so the soak should have been at \
1222 °C; the thermocouple saw 1268 °C before the controller tripped with E-417 and cut the \
elements. Firing log is in logs/kiln3-0311.csv. Please find out why and fix it.

What you must keep to:
- The wire format of the telemetry frame must not change, the logger in the studio reads it byte \
by byte.
- No heap allocation anywhere in crates/control.
- Never flash the board from here; I do that by hand, next to the kiln.
- The safety cutoff stays at 1290 °C."""


def tell() -> CodexLog:
    """The whole session; its last step is not finished."""
    log = CodexLog(
        "01a0c3d2-11b4-7e60-9c55-2f6f0a7d9e01",
        "/home/mira/kilnwright",
        datetime(2026, 3, 12, 8, 30, tzinfo=UTC),
    )
    log.rules(RULES)
    _find(log)
    _choose(log)
    _fix(log)
    _other_type(log)
    _release(log)
    return log


def _find(log: CodexLog) -> None:
    log.user(ASK)
    log.says("I'll read the control crate and the firing log first.")
    log.runs("rg --files crates profiles logs", TREE)
    log.runs("sed -n '1,400p' crates/control/src/pid.rs", PID)
    log.runs("sed -n '1,300p' crates/thermo/src/max31856.rs", _driver())
    log.runs("cat logs/kiln3-0311.csv", _firing())
    log.runs("cat profiles/cone6.ron", PROFILE)
    log.says(
        "The elements are at 100 % duty from minute 212 on, and the integral keeps growing all that"
        " time: it stands at 41.7 when the setpoint is reached. I want to see it in the simulator."
    )
    log.runs("cargo run -p kiln-sim -- --profile cone6 --type K", _simulated(1266.8), 0, 41.2)
    log.runs("git log --oneline -15 -- crates/control", HISTORY)
    log.runs("rg -n 'integral' crates", INTEGRAL)
    log.plans(
        "The integral winds up while the relay is saturated; nothing limits it.",
        {
            "Reproduce the overshoot in the simulator": "completed",
            "Write a test that fails without the fix": "in_progress",
            "Stop the windup in pid.rs": "pending",
            "Run the simulator for every profile": "pending",
        },
    )
    log.ends(
        "The cause is integral windup: `Pid::update` in crates/control/src/pid.rs adds the error to"
        " the integral also while the duty is saturated. The simulator shows the same peak,"
        " 1266.8 °C. Two ways to stop it: conditional integration, which is small and needs no new"
        " parameter, or back-calculation, which needs a gain per kiln. Which one do you want?"
    )


def _choose(log: CodexLog) -> None:
    log.user(
        "Before we decide: what is the sampling period, and does the 16-sample average in the"
        " driver add a lag that matters?"
    )
    log.runs(
        "rg -n 'SAMPLE_PERIOD|AVERAGING' crates",
        "crates/thermo/src/lib.rs:14:pub const "
        "SAMPLE_PERIOD_MS: u32 = 200;\ncrates/thermo/src/max31856.rs:31:const AVERAGING: u8 ="
        " 16;",
    )
    log.ends(
        "The period is 200 ms, so sixteen samples are a lag of about 3.2 s. At the 2.1 K/min of the"
        " last ramp that is 0.1 K: it does not matter."
    )
    log.user(
        "OK. Go for conditional integration, not back-calculation: I don't want another number to"
        " tune on every kiln. And put the test next to the others in pid.rs."
    )


def _fix(log: CodexLog) -> None:
    log.patches("crates/control/src/pid.rs", TEST_HUNK)
    log.runs("cargo test -p control", _tests("error"), 101, 18.6)
    log.says("It fails as it should. Now the fix.")
    log.patches("crates/control/src/pid.rs", FIX_HUNK)
    log.runs("cargo test -p control", _tests("soak"), 101, 9.9)
    log.says(
        "The new test passes, an old one does not: it steps with a fixed dt of 0.25 s while the"
        " controller is sampled every 0.2 s. I'll let it take its dt from `SampleClock`."
    )
    log.runs("sed -n '1,120p' crates/control/src/clock.rs", _clock())
    log.patches(
        "crates/control/src/pid.rs",
        "@@ mod tests\n-    let dt = 0.25;\n+    let dt = SampleClock::default().dt_seconds();",
    )
    log.runs("cargo test -p control", _tests(""), 0, 9.1)
    log.runs("cargo run -p kiln-sim -- --profile cone6 --type K", _simulated(1224.1), 0, 40.4)
    log.runs("cargo xtask check", _check(), 0, 63.0)
    log.runs(
        "git add -A && git commit -qm 'Integrate only while the duty is not saturated' && git"
        " rev-parse --short HEAD",
        "4be19d2",
    )
    log.plans(
        "The fix is in; the other profiles come next.",
        {
            "Reproduce the overshoot in the simulator": "completed",
            "Write a test that fails without the fix": "completed",
            "Stop the windup in pid.rs": "completed",
            "Run the simulator for every profile": "in_progress",
        },
    )
    log.ends(
        "Fixed in commit 4be19d2: the integral stands still while the duty is saturated and the"
        " error would push it further. The simulated peak of cone 6 falls from 1266.8 to 1224.1 °C."
    )


def _other_type(log: CodexLog) -> None:
    log.user(
        "Great. Jonas's studio has type S thermocouples, so run the profiles with --type S as well"
        " before we call it done."
    )
    for profile, peak in (("bisque04", 1063.0), ("cone6", 1223.7)):
        log.runs(
            f"cargo run -p kiln-sim -- --profile {profile} --type K", _simulated(peak), 0, 39.0
        )
    log.runs("cargo run -p kiln-sim -- --profile cone6 --type S", PANIC, 101, 4.0)
    log.runs("sed -n '60,120p' crates/thermo/src/tables/type_s.rs", _table())
    log.ends(
        "Type K is fine in both profiles. Type S panics in crates/thermo/src/tables/type_s.rs:88:"
        " the table has 512 entries and ends at 1000 °C, and the lookup does not stop there. It has"
        " nothing to do with the fix: the same happens on main."
    )
    log.user(
        "Leave the type S table alone then, it goes to a branch of its own. I opened KW-92 for it."
        " By the way, does the new code cost much flash?"
    )
    log.runs("cargo size --release --bin kilnwright -- -A", SIZE, 0, 30.2)
    log.ends("56 bytes more: 118,304 of 131,072 bytes are used now.")


def _release(log: CodexLog) -> None:
    log.user(
        "Fine. Then two last things: write docs/tuning.md, one page, with the limits of the"
        " integral and how to read duty and integral in the log; and bump the version to 2.7.1."
        " Do not tag it yet, I want to fire the kiln once before."
    )
    log.plans(
        "Type S is left to KW-92.",
        {
            "Run the simulator for every profile": "completed",
            "Bump the version to 2.7.1": "in_progress",
            "Write docs/tuning.md": "pending",
        },
    )
    log.runs("rg -n '^version' Cargo.toml crates/*/Cargo.toml", VERSIONS)
    log.patches("Cargo.toml", '@@ [workspace.package]\n-version = "2.7.0"\n+version = "2.7.1"')
    log.runs("cargo update --workspace --offline", "    Locking 4 packages", 0, 1.1)
    log.runs("cargo xtask check", _check(), 0, 61.0)
    log.plans(
        "The version is bumped, nothing is tagged.",
        {
            "Bump the version to 2.7.1": "completed",
            "Write docs/tuning.md": "in_progress",
        },
    )
    log.runs("ls docs && sed -n '1,60p' docs/profiles.md", _docs())
    log.says("The other pages are short; I'll keep the tone. Next I write docs/tuning.md.")


def _firing() -> str:
    """A sample every three minutes: minute, setpoint, measured, duty, integral."""
    rows = ["minute,setpoint_c,measured_c,duty_pct,integral"]
    for minute in range(0, 420, 3):
        setpoint = min(1222.0, 20 + 5.2 * minute)
        late = max(0.0, minute - 231)
        over = 46 * math.exp(-(((late - 51) / 30) ** 2)) if late else 0.0
        measured = min(setpoint, 20 + 5.0 * minute) + over
        duty = 100 if 212 <= minute < 270 else 62 + minute % 17
        integral = 41.7 * min(1.0, max(0.0, (minute - 212) / 40)) + 3 + minute % 5 / 10
        rows.append(f"{minute},{setpoint:.1f},{measured:.1f},{duty},{integral:.2f}")
    return "\n".join([*rows, "282,1222.0,1268.0,0,44.70  # E-417 OVERTEMP_SOAK, elements cut"])


def _simulated(peak: float) -> str:
    rows = [
        f"[{minute:4d} min] set {min(1222.0, 20 + 5.2 * minute):7.1f}  seen "
        f"{min(peak, 19 + 5.1 * minute):7.1f}  duty {55 + minute % 41:3d} %"
        for minute in range(0, 360, 6)
    ]
    return "\n".join(["    Finished `dev` profile in 2.31s", *rows, f"peak {peak:.1f} C"])


def _driver() -> str:
    names = ("CR0", "CR1", "MASK", "CJHF", "CJLF", "LTHFTH", "LTHFTL", "CJTO", "CJTH", "SR")
    registers = "\n".join(f"const REG_{name}: u8 = {at:#04x};" for at, name in enumerate(names))
    methods = "\n\n".join(
        f"    pub fn read_{name}(&mut self) -> Result<Celsius, SpiError> {{\n"
        f"        let raw = self.bus.transfer(&[REG_{name.upper()}, 0, 0])?;\n"
        f"        Ok(Celsius::from_q4(i32::from_be_bytes([0, raw[0], raw[1], raw[2]])))\n    }}"
        for name in ("ltcbh", "cjth", "sr", "lthfth", "ltlfth")
    )
    return f"//! MAX31856 over SPI.\n{registers}\n\nimpl<B: Bus> Max31856<B> {{\n{methods}\n}}"


def _clock() -> str:
    return "\n".join(
        [
            "//! Time between two samples, from the timer of the board.",
            "#[derive(Default)]",
            "pub struct SampleClock { ticks: u32 }",
            "impl SampleClock {",
            "    pub fn dt_seconds(&self) -> f32 { SAMPLE_PERIOD_MS as f32 / 1000.0 }",
            *(
                f"    pub fn after_{n}_ticks(&self) -> u32 {{ self.ticks + {n} }}"
                for n in range(20)
            ),
            "}",
        ]
    )


def _tests(failing: str) -> str:
    names = [f"pid::tests::step_response_{n:02d}" for n in range(24)]
    lines = [f"test {name} ... ok" for name in names]
    if failing == "error":
        lines.append("test pid::tests::saturated_duty_does_not_wind_up ... FAILED")
        lines.append("---- pid::tests::saturated_duty_does_not_wind_up stdout ----")
        lines.append("thread panicked at crates/control/src/pid.rs:164:9:")
        lines.append("assertion failed: pid.integral() <= 5.0, it is 41.7")
    elif failing == "soak":
        lines.append("test pid::tests::soak_holds_within_two_degrees ... FAILED")
        lines.append("---- pid::tests::soak_holds_within_two_degrees stdout ----")
        lines.append("thread panicked at crates/control/src/pid.rs:141:9:")
        lines.append("assertion `left <= right` failed\n  left: 7.4\n right: 2.0")
    passed = len(names) + (2 if not failing else 1)
    lines.append(f"test result: {'FAILED' if failing else 'ok'}. {passed} passed")
    return "\n".join(lines)


def _check() -> str:
    crates = ("control", "thermo", "telemetry", "profiles", "kiln-sim", "xtask", "kilnwright")
    return "\n".join(
        [
            *(
                f"    Checking {crate} v2.7.0 (/home/mira/kilnwright/crates/{crate})"
                for crate in crates
            ),
            *(f"test telemetry::frame::field_{n:02d}_keeps_its_offset ... ok" for n in range(30)),
            "test result: ok. 118 passed; 0 failed",
        ]
    )


def _table() -> str:
    rows = [
        "    "
        + ", ".join(f"{round(7.3 * n + 0.004 * n * n)}" for n in range(start, start + 8))
        + ","
        for start in range(360, 512, 8)
    ]
    return "\n".join(
        [
            *rows,
            "];",
            "pub fn microvolts(celsius: f32) -> i32 {",
            "    let at = (celsius / 1.9531) as usize;",
            "    TYPE_S[at] // no bound: the table ends at 1000 C",
            "}",
        ]
    )


def _docs() -> str:
    lines = ["profiles.md", "telemetry.md", "", "# Profiles"]
    lines += [
        f"- Segment {n}: a ramp in K/min, a target in C, a soak in minutes." for n in range(9)
    ]
    return "\n".join(lines)


TREE = """crates/control/src/clock.rs
crates/control/src/lib.rs
crates/control/src/pid.rs
crates/control/src/relay.rs
crates/kiln-sim/src/main.rs
crates/kiln-sim/src/model.rs
crates/telemetry/src/frame.rs
crates/thermo/src/lib.rs
crates/thermo/src/max31856.rs
crates/thermo/src/tables/type_k.rs
crates/thermo/src/tables/type_s.rs
profiles/bisque04.ron
profiles/cone6.ron
logs/kiln3-0311.csv"""

PID = """//! PID control of the elements' duty. No allocation in this crate.
use crate::clock::SampleClock;

#[derive(Clone, Copy)]
pub struct Gains { pub kp: f32, pub ki: f32, pub kd: f32 }

pub struct Pid {
    gains: Gains,
    integral: f32,
    last_error: f32,
}

impl Pid {
    pub const fn new(gains: Gains) -> Self {
        Self { gains, integral: 0.0, last_error: 0.0 }
    }

    /// Duty from 0 to 1.
    pub fn update(&mut self, setpoint: f32, measured: f32, dt: f32) -> f32 {
        let error = setpoint - measured;
        self.integral += error * dt;
        let slope = (error - self.last_error) / dt;
        self.last_error = error;
        let raw = self.gains.kp * error + self.gains.ki * self.integral + self.gains.kd * slope;
        raw.clamp(0.0, 1.0)
    }

    pub fn integral(&self) -> f32 { self.integral }
}"""

PROFILE = """Profile(name: "cone 6", segments: [
  (ramp: 2.5, target: 600.0, soak: 10),
  (ramp: 5.0, target: 1100.0, soak: 0),
  (ramp: 2.1, target: 1222.0, soak: 15),
])"""

HISTORY = """9d1c0ab Round the duty to whole mains periods
7720f1e Take gains from the profile
c41b9e3 Drop the derivative kick at setpoint changes
3fa8d02 Split control from the board
18e6c55 First closed loop"""

INTEGRAL = """crates/control/src/pid.rs:8:    integral: f32,
crates/control/src/pid.rs:20:        self.integral += error * dt;
crates/control/src/pid.rs:27:    pub fn integral(&self) -> f32 { self.integral }
crates/telemetry/src/frame.rs:33:    pub integral: f32,
crates/telemetry/src/frame.rs:71:    out[18..22].copy_from_slice(&self.integral.to_be_bytes());"""

TEST_HUNK = """@@ mod tests
+    #[test]
+    fn saturated_duty_does_not_wind_up() {
+        let mut pid = Pid::new(GAINS);
+        for _ in 0..12_000 {
+            pid.update(1222.0, 900.0, 0.2);
+        }
+        assert!(pid.integral() <= 5.0);
+    }"""

FIX_HUNK = """@@ pub fn update
-        self.integral += error * dt;
         let slope = (error - self.last_error) / dt;
         self.last_error = error;
-        let raw = self.gains.kp * error + self.gains.ki * self.integral + self.gains.kd * slope;
+        let next = self.integral + error * dt;
+        let raw = self.gains.kp * error + self.gains.ki * next + self.gains.kd * slope;
+        let winding = (raw > 1.0 && error > 0.0) || (raw < 0.0 && error < 0.0);
+        if !winding {
+            self.integral = next;
+        }"""

PANIC = """    Finished `dev` profile in 2.29s
[   0 min] set    20.0  seen    20.0  duty   0 %
thread 'main' panicked at crates/thermo/src/tables/type_s.rs:88:5:
index out of bounds: the len is 512 but the index is 618
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"""

SIZE = """kilnwright  :
section        size        addr
.vector_table   192   0x8000000
.text        104012   0x80000c0
.rodata       14100   0x801970c
Total        118304"""

VERSIONS = """Cargo.toml:9:version = "2.7.0"
crates/xtask/Cargo.toml:3:version = "0.1.0\""""
