//! By keys alone: the skip link, searching, walking through the list, and turning the keys off.

use crate::logged_in;
use crate::site::Site;

const FOCUSED: &str = "document.activeElement.textContent.trim()";

#[test]
fn the_list_can_be_walked_by_keys() {
    let site = Site::start(None).with_tickets();
    let mut page = logged_in(&site, "max");

    // The first stop of the tab key leads past the navigation, and can be seen there.
    page.key("Tab");
    assert_eq!(page.eval(FOCUSED), "Skip to the content");
    assert_eq!(page.eval("document.activeElement.getBoundingClientRect().left >= 0"), true);
    page.key("Enter");
    assert_eq!(page.eval("document.activeElement.id"), "main");

    // j and k walk, and stop at the ends.
    page.key("j");
    let first = page.eval(FOCUSED);
    page.key("j");
    let second = page.eval(FOCUSED);
    assert_ne!(first, second);
    page.key("k");
    page.key("k");
    assert_eq!(page.eval(FOCUSED), first);
    let outline = page.eval("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid", "the focus is to be seen");

    // A slash searches; letters are letters there; the list follows without a new page.
    page.key("/");
    assert_eq!(page.eval("document.activeElement.id"), "search");
    page.eval("window.stay = true; 1");
    for letter in ["j", "s", "o", "n"] {
        page.key(letter);
    }
    assert_eq!(page.eval("document.activeElement.value"), "json");
    page.wait_for("document.querySelectorAll('a.ticket').length === 1");
    assert!(page.text("a.ticket").contains("skip_string"));
    assert_eq!(page.eval("window.stay"), true, "the page was not loaded again");
    page.wait_for("location.search.includes('search=json')");
    assert_eq!(page.eval("document.activeElement.id"), "search", "the focus stays");

    page.wait_for("!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')");

    // Escape leaves the search, j goes to the ticket, Enter opens it, u leads back.
    page.key("Escape");
    assert_eq!(page.eval("document.getElementById('search').value"), "json", "it is not emptied");
    page.key("j");
    assert!(
        page.eval(FOCUSED).as_str().unwrap().contains("skip_string"),
        "the ticket has the focus"
    );
    page.go(|page| page.key("Enter"));
    assert!(page.path().starts_with("/tickets/T-"));
    page.go(|page| page.key("u"));
    assert_eq!(page.path(), "/");

    // Keys can be turned off, and that is remembered.
    page.click("#keys");
    assert_eq!(page.text("#keys"), "Keys are off");
    page.go(|page| {
        page.call("Page.reload", &serde_json::json!({}));
    });
    page.wait_for("document.getElementById('keys').textContent === 'Keys are off'");
    page.key("j");
    assert_eq!(page.eval("document.activeElement === document.body"), true);
    assert_eq!(page.complaints(), Vec::<String>::new());
}
