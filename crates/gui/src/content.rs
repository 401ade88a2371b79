//! What a page is, apart from where it lies: the digests of its scripts.
//!
//! Always: of a document itself there is none, for a server may have put a user's name into it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::chromium::Error;
use crate::failure::script_name;
use crate::recording::Recording;
use crate::replay::open;

/// The digests of a page's scripts, by the names of their files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Content {
    scripts: BTreeMap<String, String>,
    /// The text of all of them, and of those within the document, in lower case.
    text: String,
}

impl Content {
    /// Loads the page and looks at its scripts.
    ///
    /// # Errors
    /// It does not load.
    pub fn of(case: &Case<'_>, recording: &Recording) -> Result<Self, Error> {
        let browser = case.pool().browser()?;
        let plan = case.plan(recording.with_actions(&[]), case.manner());
        let mut tab = open(&browser, &plan, &[])?;
        let tree = tab.call("Page.getResourceTree", &json!({}))?;
        let mut hashes: BTreeMap<String, Sha256> = BTreeMap::new();
        let inner = "[...document.scripts].map(script => script.text).join('\\n')";
        let mut text = tab.evaluate(inner)?.as_str().unwrap_or_default().to_lowercase();
        let mut frames = vec![tree["frameTree"].clone()];
        while let Some(tree) = frames.pop() {
            let frame = tree["frame"]["id"].clone();
            for resource in tree["resources"].as_array().into_iter().flatten() {
                let Some(url) = resource["url"].as_str().filter(|_| resource["type"] == "Script")
                else {
                    continue;
                };
                let params = json!({ "frameId": frame, "url": url });
                // One that could not be loaded has no content.
                let Ok(content) = tab.call("Page.getResourceContent", &params) else { continue };
                let content = content["content"].as_str().unwrap_or_default();
                text.push_str(&content.to_lowercase());
                hashes.entry(script_name(url)).or_default().update(content.as_bytes());
            }
            frames.extend(tree["childFrames"].as_array().into_iter().flatten().cloned());
        }
        let digits = |hash: Sha256| -> String {
            hash.finalize()[..20].iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let scripts = hashes.into_iter().map(|(name, hash)| (name, digits(hash))).collect();
        Ok(Self { scripts, text })
    }

    /// Whether a word, in lower case, stands in a script: what everybody has who has the page.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    /// The digest of a script.
    #[must_use]
    pub fn digest(&self, script: &str) -> Option<String> {
        self.scripts.get(script).cloned()
    }

    /// All of them.
    #[must_use]
    pub fn scripts(&self) -> &BTreeMap<String, String> {
        &self.scripts
    }

    /// One for all: of which build the page is. Nothing if it has no scripts of their own files.
    #[must_use]
    pub fn build(&self) -> Option<String> {
        let all: Vec<&String> = self.scripts.values().collect();
        let hash = Sha256::digest(Value::from_iter(all.iter().map(|it| it.as_str())).to_string());
        (!all.is_empty()).then(|| hash[..20].iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
