//! The description of the interface, as OpenAPI has it: one line for each operation.
//!
//! Always: an operation that is described is there, and answers as described; tests walk over this
//! table against a running server.

use axum::Json;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, Paths, Ref, RefOr, Required,
    ResponseBuilder, Schema,
};

use super::schema::{
    Answer, Ask, AuditEntry, Build, Count, Counted, KnownDouble, Link, LinkState, MadeToken,
    NewNote, NewReplay, NewRetention, NewSettings, NewState, NewStateWord, NewToken, NewUser,
    Noise, Note, Outcome, Page, Problem, Replay, ReplayResult, ReplayState, Retention, RoleWord,
    ServerKey, Settings, State, Stored, Ticket, TicketRow, Token, Tracker, User, UserRole,
};
use crate::store::{Role, Sort, StateFilter};

/// What goes in or comes out.
#[derive(Clone, Copy)]
enum Body {
    Nothing,
    /// A JSON document of this name.
    Json(&'static str),
    /// A list of them.
    List(&'static str),
    /// Bytes of this type.
    Bytes(&'static str),
}

/// An operation.
struct Operation {
    method: HttpMethod,
    path: &'static str,
    what: &'static str,
    /// Who may; nobody in particular if it is none.
    role: Option<Role>,
    query: &'static [&'static str],
    takes: Body,
    status: &'static str,
    gives: Body,
    /// Whether what was done before is answered in the same way by 200.
    repeats: bool,
}

use Body::{Bytes, Json as Document, List, Nothing};
use HttpMethod::{Delete, Get, Post, Put};

const REPORTER: Option<Role> = Some(Role::Reporter);
const MAINTAINER: Option<Role> = Some(Role::Maintainer);
const ADMIN: Option<Role> = Some(Role::Admin);

const fn operation(
    method: HttpMethod,
    path: &'static str,
    what: &'static str,
    role: Option<Role>,
    takes: Body,
    status: &'static str,
    gives: Body,
) -> Operation {
    Operation { method, path, what, role, query: &[], takes, status, gives, repeats: false }
}

fn with_query(operation: Operation, query: &'static [&'static str]) -> Operation {
    Operation { query, ..operation }
}

fn repeating(operation: Operation) -> Operation {
    Operation { repeats: true, ..operation }
}

#[rustfmt::skip] // A table.
fn operations() -> Vec<Operation> {
    let list = operation(Get, "/api/v1/tickets", "Tickets, found and ordered", MAINTAINER, Nothing, "200", Document("Page"));
    let builds = operation(Get, "/api/v1/builds", "Builds", MAINTAINER, Nothing, "200", List("Build"));
    let bring = operation(Put, "/api/v1/builds/{name}", "Bring a build", MAINTAINER, Bytes("application/octet-stream"), "201", Document("Build"));
    let audit = operation(Get, "/api/v1/audit", "Who did what", ADMIN, Nothing, "200", List("AuditEntry"));
    let noise = operation(Get, "/api/v1/noise", "What strangers did, counted by the hour", ADMIN, Nothing, "200", List("Noise"));
    vec![
        operation(Post, "/api/v1/ask", "Is this failure known?", REPORTER, Document("Ask"), "200", Document("Answer")),
        repeating(operation(Post, "/api/v1/counts", "This failure was met once more", REPORTER, Document("Count"), "201", Document("Counted"))),
        operation(Get, "/api/v1/doubles/{signature}", "The best report for a failure, if an admin has turned that on", REPORTER, Nothing, "200", Bytes("application/zip")),
        repeating(operation(Put, "/api/v1/reports/{digest}", "Take a sealed report", REPORTER, Bytes("application/age"), "201", Document("Stored"))),
        operation(Get, "/api/v1/recipient", "To whom reports are sealed", None, Nothing, "200", Document("ServerKey")),
        operation(Get, "/api/v1/openapi.json", "This description", None, Nothing, "200", Bytes("application/json")),
        with_query(list, &["search", "state", "program", "sort", "after", "limit"]),
        operation(Get, "/api/v1/tickets/{ticket}", "A ticket", MAINTAINER, Nothing, "200", Document("Ticket")),
        operation(Get, "/api/v1/tickets/{ticket}/double", "The report of its best double", MAINTAINER, Nothing, "200", Bytes("application/zip")),
        operation(Post, "/api/v1/tickets/{ticket}/notes", "Write a note", MAINTAINER, Document("NewNote"), "201", Document("Note")),
        operation(Put, "/api/v1/tickets/{ticket}/state", "Say that it is open or fixed", MAINTAINER, Document("NewState"), "204", Nothing),
        operation(Post, "/api/v1/tickets/{ticket}/replays", "Ask for a replay", MAINTAINER, Document("NewReplay"), "202", Document("Replay")),
        operation(Post, "/api/v1/tickets/{ticket}/issue", "Ask for an issue in the tracker", MAINTAINER, Nothing, "202", Document("Link")),
        operation(Get, "/api/v1/replays/{replay}", "What came of a replay", MAINTAINER, Nothing, "200", Document("Replay")),
        with_query(builds, &["program"]),
        operation(Post, "/api/v1/builds", "Bring a build by a form: version, file", MAINTAINER, Bytes("multipart/form-data"), "201", Document("Build")),
        with_query(bring, &["version"]),
        operation(Delete, "/api/v1/builds/{name}", "Remove a build, by its build-id", MAINTAINER, Nothing, "204", Nothing),
        operation(Get, "/api/v1/settings", "What admins decided", ADMIN, Nothing, "200", Document("Settings")),
        operation(Put, "/api/v1/settings", "Decide anew; what is left out stays as it is", ADMIN, Document("NewSettings"), "200", Document("Settings")),
        operation(Get, "/api/v1/tokens", "Tokens", ADMIN, Nothing, "200", List("Token")),
        operation(Post, "/api/v1/tokens", "Make a token", ADMIN, Document("NewToken"), "201", Document("MadeToken")),
        operation(Delete, "/api/v1/tokens/{token}", "Revoke a token", ADMIN, Nothing, "204", Nothing),
        operation(Get, "/api/v1/users", "Users", ADMIN, Nothing, "200", List("User")),
        operation(Post, "/api/v1/users", "Add a user", ADMIN, Document("NewUser"), "201", Document("User")),
        with_query(audit, &["before", "limit"]),
        with_query(noise, &["limit"]),
    ]
}

/// The description.
#[must_use]
pub fn document() -> OpenApi {
    let mut paths = Paths::new();
    for operation in operations() {
        let built = describe(&operation);
        paths.add_path_operation(operation.path, vec![operation.method], built);
    }
    let components = ComponentsBuilder::new()
        .schema_from::<Ask>()
        .schema_from::<Answer>()
        .schema_from::<KnownDouble>()
        .schema_from::<Count>()
        .schema_from::<Counted>()
        .schema_from::<Stored>()
        .schema_from::<ServerKey>()
        .schema_from::<Problem>()
        .schema_from::<Page>()
        .schema_from::<TicketRow>()
        .schema_from::<Ticket>()
        .schema_from::<Note>()
        .schema_from::<NewNote>()
        .schema_from::<NewState>()
        .schema_from::<NewReplay>()
        .schema_from::<Replay>()
        .schema_from::<Link>()
        .schema_from::<Build>()
        .schema_from::<Settings>()
        .schema_from::<NewSettings>()
        .schema_from::<Retention>()
        .schema_from::<NewRetention>()
        .schema_from::<Tracker>()
        .schema_from::<State>()
        .schema_from::<NewStateWord>()
        .schema_from::<RoleWord>()
        .schema_from::<UserRole>()
        .schema_from::<ReplayState>()
        .schema_from::<ReplayResult>()
        .schema_from::<Outcome>()
        .schema_from::<LinkState>()
        .schema_from::<Token>()
        .schema_from::<NewToken>()
        .schema_from::<MadeToken>()
        .schema_from::<User>()
        .schema_from::<NewUser>()
        .schema_from::<AuditEntry>()
        .schema_from::<Noise>()
        .security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .build();
    let info = InfoBuilder::new()
        .title("stunt")
        .version("1")
        .description(Some("Failures as tickets, each with a double that fails in the same way."));
    OpenApiBuilder::new().info(info.build()).paths(paths).components(Some(components)).build()
}

fn text() -> RefOr<Schema> {
    RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(Type::String).build()))
}

fn one_of<const N: usize>(words: [&'static str; N]) -> RefOr<Schema> {
    let words = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words));
    RefOr::T(Schema::Object(words.build()))
}

fn number() -> RefOr<Schema> {
    RefOr::T(Schema::Object(ObjectBuilder::new().schema_type(Type::Integer).build()))
}

/// The type of a body, and its shape.
fn content(body: Body) -> Option<(&'static str, RefOr<Schema>)> {
    let named = |name: &str| RefOr::Ref(Ref::from_schema_name(name));
    match body {
        Nothing => None,
        Document(name) => Some(("application/json", named(name))),
        List(name) => {
            let list = utoipa::openapi::schema::ArrayBuilder::new().items(named(name)).build();
            Some(("application/json", RefOr::T(Schema::Array(list))))
        }
        Bytes(kind) => Some((kind, text())),
    }
}

fn describe(operation: &Operation) -> utoipa::openapi::path::Operation {
    let mut built = OperationBuilder::new().summary(Some(operation.what));
    let parts = operation.path.split('/').filter_map(|part| part.strip_prefix('{'));
    for name in parts.filter_map(|part| part.strip_suffix('}')) {
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(text()));
        built = built.parameter(parameter.build());
    }
    for name in operation.query {
        let kind = match *name {
            "before" | "limit" => number(),
            "state" => one_of(StateFilter::ALL.map(StateFilter::word)),
            "sort" => one_of(Sort::ALL.map(Sort::word)),
            _ => text(),
        };
        let parameter =
            ParameterBuilder::new().name(*name).parameter_in(ParameterIn::Query).schema(Some(kind));
        built = built.parameter(parameter.build());
    }
    if let Some((kind, schema)) = content(operation.takes) {
        let body = RequestBodyBuilder::new()
            .content(kind, ContentBuilder::new().schema(Some(schema)).build())
            .required(Some(Required::True));
        built = built.request_body(Some(body.build()));
    }
    let answer = |words: &str| {
        let answer = ResponseBuilder::new().description(words);
        match content(operation.gives) {
            Some((kind, schema)) => {
                answer.content(kind, ContentBuilder::new().schema(Some(schema)).build()).build()
            }
            None => answer.build(),
        }
    };
    built = built.response(operation.status, answer("Done"));
    if operation.repeats {
        built = built.response("200", answer("It was done before, and does not count again"));
    }
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let problem = ResponseBuilder::new()
        .description("Why not")
        .content("application/problem+json", problem)
        .build();
    built = built.response("default", problem);
    match operation.role {
        Some(role) => {
            let scopes: [&str; 0] = [];
            if role == Role::Reporter {
                // Without a token, unless the settings demand one.
                built = built.security(SecurityRequirement::default());
            }
            built.security(SecurityRequirement::new("token", scopes)).tag(role.word()).build()
        }
        None => built.tag("anybody").build(),
    }
}

pub(super) async fn serve() -> Json<OpenApi> {
    Json(document())
}
