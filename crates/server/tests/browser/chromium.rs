//! Debian's Chromium, driven by its own protocol over a pipe: no port, no other program between.
//!
//! Always: a browser has a fresh profile, and ends with its test, by its id. What a page complains
//! about (errors of scripts, violations of the policy) is kept, and [`Page::complaints`] has it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// How long something on a page may take: machines that test are busy.
const PATIENCE: Duration = Duration::from_secs(120);

const FLAGS: [&str; 10] = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--no-proxy-server",
    "--remote-debugging-pipe",
];

/// A page in a browser of its own.
pub struct Page {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    profile: PathBuf,
    session: Option<String>,
    last: u64,
    complaints: Vec<String>,
}

impl Page {
    /// Starts the browser with an empty page, as wide as a desktop.
    pub fn start() -> Page {
        let name = format!("stunt-chromium-{}-{}", std::process::id(), unique());
        let profile = std::env::temp_dir().join(name);
        fs::create_dir_all(&profile).unwrap();
        // The protocol's pipes are 3 and 4; a shell puts them there.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]);
        command.arg("chromium-headless-shell").args(FLAGS);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let from = BufReader::new(from);
        let (session, last, complaints) = (None, 0, Vec::new());
        let mut page = Page { child, to, from, profile, session, last, complaints };
        let target = page.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = page.call("Target.attachToTarget", &attach);
        page.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        page.size(1280, 900);
        page
    }

    /// One call of the protocol, which must succeed.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// One call of the protocol, or the error that it is answered with.
    fn try_call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let sent = self.to.write_all(&bytes).and_then(|()| self.to.flush());
        let absent = "Chromium does not run: `apt-get install chromium-headless-shell`, \
                      or `cargo xtask test`, which does it";
        sent.expect(absent);
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect(absent);
            assert!(!bytes.is_empty(), "{absent}");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            if answer["id"] == self.last {
                let error = &answer["error"];
                let result = &answer["result"];
                return if error.is_null() { Ok(result.clone()) } else { Err(error.clone()) };
            }
            self.listen(&answer);
        }
    }

    /// Keeps what a page complains about.
    fn listen(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(params["exceptionDetails"].to_string());
            }
            Some("Log.entryAdded") => {
                let entry = &params["entry"];
                // The browser logs every answer that is not 200; tests look at those themselves.
                if entry["level"] == "error" && entry["source"] != "network" {
                    self.complaints.push(entry["text"].to_string());
                }
            }
            Some("Page.javascriptDialogOpening") => {
                self.complaints.push(format!("a dialog: {}", params["message"]));
            }
            _ => {}
        }
    }

    /// What pages complained about since the last time.
    pub fn complaints(&mut self) -> Vec<String> {
        // Events come before the answer to whatever is asked next.
        self.eval("1");
        std::mem::take(&mut self.complaints)
    }

    /// Goes to an address and waits until the page is there.
    pub fn open(&mut self, url: &str) {
        // Marks the old document, so that it is not taken for the new one.
        self.eval("window.stuntOld = true; 1");
        self.call("Page.navigate", &json!({"url": url}));
        self.wait_for("!window.stuntOld && document.readyState === 'complete'");
    }

    /// Does something that leads to another page, and waits until that is there.
    pub fn go(&mut self, act: impl FnOnce(&mut Page)) {
        self.eval("window.stuntOld = true; 1");
        act(self);
        self.wait_for("!window.stuntOld && document.readyState === 'complete'");
    }

    /// The value of an expression in the page, or what the protocol says if there is no page to ask:
    /// one that is just being left answers with an error.
    fn try_eval(&mut self, expression: &str) -> Result<Value, Value> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.try_call("Runtime.evaluate", &params)?;
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        Ok(answer["result"]["value"].clone())
    }

    /// The value of an expression in the page.
    pub fn eval(&mut self, expression: &str) -> Value {
        self.try_eval(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Text of the first element that the selector finds.
    pub fn text(&mut self, selector: &str) -> String {
        let found = self.eval(&format!("document.querySelector({selector:?})?.innerText ?? null"));
        found.as_str().unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    /// The path and query of the address.
    pub fn path(&mut self) -> String {
        self.eval("location.pathname + location.search").as_str().unwrap().to_owned()
    }

    /// Waits until an expression is true, whichever page is there by then.
    pub fn wait_for(&mut self, expression: &str) {
        let start = Instant::now();
        let asked = format!("Boolean({expression})");
        while !self.try_eval(&asked).is_ok_and(|value| value == true) {
            if start.elapsed() > PATIENCE {
                let text = self.eval("location.href + '\\n' + document.body.innerText");
                panic!("it does not become true: {expression}\n{}", text.as_str().unwrap_or(""));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Clicks the middle of an element, as a person does.
    pub fn click(&mut self, selector: &str) {
        let place = self.eval(&format!(
            "(() => {{ const it = document.querySelector({selector:?}); if (!it) return null; \
             it.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = it.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        assert!(place.is_array(), "there is no {selector} to click");
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", &params);
        }
    }

    /// Presses a key that stands for a character, or one of `Enter`, `Tab` and `Escape`.
    pub fn key(&mut self, key: &str) {
        let (text, code) = match key {
            "Enter" => ("\r", 13),
            "Tab" => ("", 9),
            "Escape" => ("", 27),
            "/" => ("/", 191),
            key => (key, i64::from(key.as_bytes()[0].to_ascii_uppercase())),
        };
        let down = json!({
            "type": if text.is_empty() { "rawKeyDown" } else { "keyDown" },
            "key": key, "text": text, "windowsVirtualKeyCode": code,
        });
        self.call("Input.dispatchKeyEvent", &down);
        let up = json!({"type": "keyUp", "key": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", &up);
    }

    /// Puts the focus on a field and types into it, over what was there.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.eval(&format!(
            "document.querySelector({selector:?}).focus(); document.activeElement.select(); 1"
        ));
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Puts a file into a field.
    pub fn choose_file(&mut self, selector: &str, file: &Path) {
        let document = self.call("DOM.getDocument", &json!({}));
        let node = self.call(
            "DOM.querySelector",
            &json!({"nodeId": document["root"]["nodeId"], "selector": selector}),
        );
        let params = json!({"files": [file], "nodeId": node["nodeId"]});
        self.call("DOM.setFileInputFiles", &params);
    }

    /// How large the window is.
    pub fn size(&mut self, width: u32, height: u32) {
        let params = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &params);
    }

    /// Whether the reader has asked for dark colours.
    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.call("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Whether pages are printed.
    pub fn print(&mut self, print: bool) {
        let media = if print { "print" } else { "" };
        self.call("Emulation.setEmulatedMedia", &json!({"media": media}));
    }

    /// Turns scripts of pages off.
    pub fn without_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    }

    /// A picture of the window, or of the whole page.
    pub fn screenshot(&mut self, file: &Path, whole: bool) {
        let params =
            json!({"format": "png", "captureBeyondViewport": whole, "optimizeForSpeed": false});
        let answer = self.call("Page.captureScreenshot", &params);
        let bytes = STANDARD.decode(answer["data"].as_str().unwrap()).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }

    /// Faults of the page that axe-core calls serious or worse.
    pub fn faults(&mut self) -> Vec<String> {
        let file = std::env::var_os("STUNT_AXE").expect(
            "STUNT_AXE is not set: it names axe.min.js of the npm package axe-core. \
             `cargo xtask test` installs it",
        );
        let source = fs::read_to_string(&file).expect("STUNT_AXE names a file");
        self.eval(&format!("{source}; 1"));
        let found = self.eval(
            "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations\
             .filter((it) => it.impact === 'serious' || it.impact === 'critical')\
             .map((it) => it.id + ': ' + it.nodes.map((node) => node.html + ' ' \
             + node.failureSummary).join(' | ')))",
        );
        let found = found.as_array().expect("axe has run").iter();
        found.map(|fault| fault.as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
