//! A tab in a context of its own: nothing of other runs is there, nothing of this one stays.
//!
//! Always: whoever waits goes on listening, so that dialogs are answered, requests are met, and exceptions are kept
//! in their order; and there is a moment after which nobody waits any more. A page that
//! never comes back from its script is made to.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::wire::{PATIENCE, Wire, receive, result_of};
use super::{Browser, Error};

/// What was seen of a page.
#[derive(Default, Debug)]
pub struct Seen {
    /// The details of exceptions that nobody caught, as the protocol has them.
    pub exceptions: Vec<Value>,
    /// How many dialogs were answered.
    pub dialogs: usize,
    /// The pages that loaded, by the ids of their loaders.
    pub loads: Vec<String>,
    /// The process of the page died.
    pub crashed: bool,
}

/// A tab.
pub struct Tab {
    wire: Arc<Wire>,
    context: String,
    target: String,
    session: String,
    inbox: Receiver<Value>,
    sender: Sender<Value>,
    /// Answers that nobody has asked for yet.
    early: FxHashMap<u64, Value>,
    seen: Seen,
    until: Instant,
    /// A person answers dialogs.
    by_hand: bool,
}

impl Tab {
    /// Opens an empty one, of this size, whose owner waits for so long in all.
    ///
    /// # Errors
    /// The browser does not.
    pub fn open(browser: &Browser, size: (u32, u32), time: Duration) -> Result<Self, Error> {
        let wire = Arc::clone(browser.wire());
        let context =
            wire.call("Target.createBrowserContext", &json!({ "disposeOnDetach": true }))?;
        let context = text(&context["browserContextId"]);
        let new = json!({
            "url": "about:blank", "browserContextId": context, "width": size.0, "height": size.1,
        });
        let target = text(&wire.call("Target.createTarget", &new)?["targetId"]);
        let attach = json!({ "targetId": target, "flatten": true });
        let session = text(&wire.call("Target.attachToTarget", &attach)?["sessionId"]);
        let (sender, inbox) = channel();
        wire.listen(&session, sender.clone());
        let mut tab = Self {
            wire,
            context,
            target,
            session,
            inbox,
            sender,
            early: FxHashMap::default(),
            seen: Seen::default(),
            until: Instant::now() + time,
            by_hand: false,
        };
        // In one go: nobody waits for the answers one by one.
        tab.send("Page.enable", &json!({}))?;
        tab.send("Page.setLifecycleEventsEnabled", &json!({ "enabled": true }))?;
        tab.send("Runtime.enable", &json!({}))?;
        tab.send("Inspector.enable", &json!({}))?;
        // Each tab believes that it is the one in front.
        tab.send("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true }))?;
        let (width, height) = size;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        tab.send("Emulation.setDeviceMetricsOverride", &metrics)?;
        Ok(tab)
    }

    /// A script that runs in every page and frame before its own.
    ///
    /// # Errors
    /// The browser is gone.
    pub fn before_pages(&mut self, script: &str) -> Result<(), Error> {
        // The page's own process has to know before another part of the browser goes to a page.
        self.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script })).map(drop)
    }

    /// From now on, a person answers dialogs.
    pub fn leave_dialogs(&mut self) {
        self.by_hand = true;
    }

    /// From now on, nothing is sent by which a server could be changed: no form, no beacon. What scripts ask for is
    /// the player's to answer.
    ///
    /// # Errors
    /// The browser refuses.
    pub fn send_nothing(&mut self) -> Result<(), Error> {
        let patterns = json!([{ "resourceType": "Document" }, { "resourceType": "Ping" }]);
        self.call("Fetch.enable", &json!({ "patterns": patterns })).map(drop)
    }

    /// The time that is left is this from now on.
    pub fn extend(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// Whether time is up.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Goes to an address, and waits until the page has loaded.
    ///
    /// # Errors
    /// It does not load, or not in time.
    pub fn go(&mut self, url: &str) -> Result<(), Error> {
        let answer = self.call("Page.navigate", &json!({ "url": url }))?;
        if let Some(error) = answer["errorText"].as_str() {
            return Err(Error::Load(error.to_owned()));
        }
        // To a place within the same page.
        let Some(loader) = answer["loaderId"].as_str() else { return Ok(()) };
        // The empty page of the beginning loads, too, and perhaps only now.
        while !self.seen.loads.iter().any(|it| it == loader) {
            self.listen()?;
        }
        Ok(())
    }

    /// The value of an expression, or of what it promises.
    ///
    /// # Errors
    /// It throws, or does not come back in time.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, Error> {
        let params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let mut answer = self.call("Runtime.evaluate", &params)?;
        let details = &answer["exceptionDetails"];
        if !details.is_null() {
            // Its message may quote the page: only its type is told.
            let what = details["exception"]["className"].as_str().unwrap_or("no error");
            return Err(Error::Script(what.to_owned()));
        }
        Ok(answer["result"]["value"].take())
    }

    /// A call, and its answer.
    ///
    /// # Errors
    /// The browser refuses, is late, or gone.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        let id = self.send(method, params)?;
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return result_of(method, answer);
            }
            self.listen()?;
        }
    }

    /// A call whose answer does not matter.
    ///
    /// # Errors
    /// The browser is gone.
    pub fn send(&mut self, method: &str, params: &Value) -> Result<u64, Error> {
        self.wire.send(Some(&self.session), method, params, self.sender.clone())
    }

    /// Listens for a while.
    ///
    /// # Errors
    /// The browser is gone.
    pub fn pause(&mut self, time: Duration) -> Result<(), Error> {
        let until = (Instant::now() + time).min(self.until);
        loop {
            match receive(&self.inbox, until) {
                Ok(message) => self.take(message)?,
                Err(Error::Late) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// A picture of what is shown: JPEG in base 64.
    ///
    /// # Errors
    /// The browser takes none.
    pub fn picture(&mut self) -> Result<String, Error> {
        let params = json!({ "format": "jpeg", "quality": 60 });
        Ok(text(&self.call("Page.captureScreenshot", &params)?["data"]))
    }

    /// What was seen so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Puts files into the input that an expression gives.
    ///
    /// # Errors
    /// There is none, or the browser refuses.
    pub fn give_files(&mut self, input: &str, files: &[PathBuf]) -> Result<(), Error> {
        let params = json!({ "expression": input });
        let answer = self.call("Runtime.evaluate", &params)?;
        let object = answer["result"]["objectId"].clone();
        self.call("DOM.setFileInputFiles", &json!({ "objectId": object, "files": files })).map(drop)
    }

    /// The next message, unless time is up.
    fn listen(&mut self) -> Result<(), Error> {
        let message = receive(&self.inbox, self.until)?;
        self.take(message)
    }

    fn take(&mut self, message: Value) -> Result<(), Error> {
        if let Some(id) = message["id"].as_u64() {
            self.early.insert(id, message);
            return Ok(());
        }
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.seen.exceptions.push(params["exceptionDetails"].clone());
            }
            // The target of a tab has the id of its uppermost frame.
            Some("Page.lifecycleEvent")
                if params["name"] == "load" && params["frameId"] == self.target.as_str() =>
            {
                let loader = text(&params["loaderId"]);
                if !self.seen.loads.contains(&loader) {
                    self.seen.loads.push(loader);
                }
            }
            Some("Page.javascriptDialogOpening") => self.answer(params)?,
            Some("Fetch.requestPaused") => self.meet(params)?,
            Some("Inspector.targetCrashed") => {
                self.seen.crashed = true;
                return Err(Error::Gone);
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, dialog: &Value) -> Result<(), Error> {
        self.seen.dialogs += 1;
        if self.by_hand {
            return Ok(());
        }
        // The player answers in the page what was recorded; what comes through may go on, or leave.
        let text = text(&dialog["defaultPrompt"]);
        let params = json!({ "accept": true, "promptText": text });
        self.send("Page.handleJavaScriptDialog", &params).map(drop)
    }

    /// Lets a request go, or not.
    fn meet(&mut self, paused: &Value) -> Result<(), Error> {
        let id = &paused["requestId"];
        let asks_only = paused["request"]["method"] == "GET" && paused["resourceType"] != "Ping";
        let (method, params) = if asks_only {
            ("Fetch.continueRequest", json!({ "requestId": id }))
        } else {
            ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "BlockedByClient" }))
        };
        self.send(method, &params).map(drop)
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // A page in an endless loop does not end by being asked to.
        let _ = self.send("Runtime.terminateExecution", &json!({}));
        self.wire.forget(&self.session);
        let (sender, receiver) = channel();
        let close = json!({ "targetId": self.target });
        let _ = self.wire.send(None, "Target.closeTarget", &close, sender.clone());
        let context = json!({ "browserContextId": self.context });
        let dispose = "Target.disposeBrowserContext";
        if self.wire.send(None, dispose, &context, sender).is_ok() {
            let _ = receive(&receiver, Instant::now() + PATIENCE);
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
