//! Who may do what: users with passwords, sessions of browsers, tokens of programs.
//!
//! Always: a secret is shown once and kept as a hash: passwords by argon2id, everything random by
//! SHA-256. A session or token that ended or was revoked is as good as unknown.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use rand::RngCore;
use rand::rngs::OsRng;
use serde::{Deserialize, Serialize};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use stunt_parcel::Digest;
use tokio::sync::{OnceCell, Semaphore};

use super::settings::note_action;
use super::{Columns, Error, Store};
use crate::clock::Moment;

/// How long a session lasts.
const SESSION: Duration = Duration::from_secs(14 * 86_400);
/// How many passwords are hashed at a time; each takes 19 MiB.
const HASHES: usize = 4;
/// The shortest password.
const SHORTEST: usize = 10;

/// What somebody may do; each may do what those before it may.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Ask, count, hand in reports.
    Reporter,
    /// Read and work on tickets.
    Maintainer,
    /// Change settings, users and tokens.
    Admin,
}

impl Role {
    /// The role as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Role::Reporter => "reporter",
            Role::Maintainer => "maintainer",
            Role::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Role, Error> {
        let all = [Role::Reporter, Role::Maintainer, Role::Admin];
        all.into_iter().find(|role| role.word() == text).ok_or(Error::Unknown("role"))
    }
}

/// A person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct User {
    /// Its number.
    pub id: i64,
    /// The name to log in with.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Since when.
    pub created: Moment,
    /// Since when it may no longer log in.
    pub disabled: Option<Moment>,
}

/// A browser that somebody logged in with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Who.
    pub user: User,
    /// What every form of the session carries, so that no other site can send one.
    pub csrf: String,
    /// Until when.
    pub expires: Moment,
}

/// A secret for a program; only its hash is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Token {
    /// Its number.
    pub id: i64,
    /// What it is for.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Since when.
    pub created: Moment,
    /// Who made it.
    pub created_by: String,
    /// The user who answers for it, and with whom it ends; none for one of the command line.
    pub owner: Option<String>,
    /// When it was last used, to the hour.
    pub used: Option<Moment>,
    /// Since when it is worth nothing.
    pub revoked: Option<Moment>,
}

/// 256 random bits as hexadecimal digits.
pub(crate) fn secret() -> String {
    let mut bytes = [0; 32];
    OsRng.fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash_of(secret: &str) -> String {
    Digest::of(secret.as_bytes()).to_string()
}

/// Does what takes its time and memory by design: aside, and few at a time, so that no number of
/// logins takes all of either. Nothing if it panicked.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    static PLACES: Semaphore = Semaphore::const_new(HASHES);
    let _place = PLACES.acquire().await.ok()?;
    tokio::task::spawn_blocking(work).await.ok()
}

/// The hash of a password.
async fn hash_password(password: String) -> Result<String, Error> {
    #[cfg(test)]
    tests::HASHED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let hash = aside(move || {
        Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string())
    });
    let failed = || Error::Invalid("the password cannot be hashed".to_owned());
    hash.await.ok_or_else(failed)?.map_err(|_| failed())
}

/// A hash of nothing that anybody knows: a name that does not exist is compared with it, once, as one
/// that does with its own.
static NOBODYS: OnceCell<String> = OnceCell::const_new();

/// Whether a password has this hash.
async fn verify(password: String, hash: String) -> bool {
    #[cfg(test)]
    tests::HASHED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let verified = aside(move || {
        PasswordHash::new(&hash)
            .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    });
    verified.await.unwrap_or(false)
}

fn user(row: &AnyRow) -> Result<User, Error> {
    Ok(User {
        id: row.number("id")?,
        name: row.text("name")?,
        role: row.text("role")?.parse()?,
        created: row.moment("created")?,
        disabled: row.maybe_moment("disabled")?,
    })
}

fn check_password(password: &str) -> Result<(), Error> {
    if password.chars().count() < SHORTEST {
        return Err(Error::Invalid(format!("a password has at least {SHORTEST} characters")));
    }
    if password.len() > 1024 {
        return Err(Error::Invalid("a password has at most 1024 bytes".to_owned()));
    }
    Ok(())
}

impl Store {
    /// Adds a user.
    pub async fn add_user(
        &self,
        by: &str,
        name: &str,
        password: &str,
        role: Role,
    ) -> Result<User, Error> {
        let plain = |c: char| c.is_alphanumeric() || "._-@+".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            let what = "a user's name has 1 to 64 letters, digits, and . _ - @ +";
            return Err(Error::Invalid(what.to_owned()));
        }
        if role == Role::Reporter {
            let what = "a user is a maintainer or an admin; reporters have tokens";
            return Err(Error::Invalid(what.to_owned()));
        }
        check_password(password)?;
        let hash = hash_password(password.to_owned()).await?;
        let now = self.now();
        let mut writing = self.writing().await?;
        let sql = "INSERT INTO users (name, password, role, created) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT DO NOTHING RETURNING id, name, role, created, disabled";
        let row = sqlx::query(sql)
            .bind(name)
            .bind(hash)
            .bind(role.word())
            .bind(now.0)
            .fetch_optional(writing.on())
            .await?;
        let row = row.ok_or_else(|| Error::Conflict("there is a user of that name".to_owned()))?;
        note_action(writing.on(), now, by, "user.add", name, role.word()).await?;
        writing.commit().await?;
        user(&row)
    }

    /// All users by name.
    pub async fn users(&self) -> Result<Vec<User>, Error> {
        let sql = "SELECT id, name, role, created, disabled FROM users ORDER BY name";
        sqlx::query(sql).fetch_all(self.reading()).await?.iter().map(user).collect()
    }

    /// Sets a new password, and ends all sessions of the user.
    pub async fn set_password(&self, by: &str, name: &str, password: &str) -> Result<(), Error> {
        check_password(password)?;
        let hash = hash_password(password.to_owned()).await?;
        let now = self.now();
        let mut writing = self.writing().await?;
        let sql = "UPDATE users SET password = $1 WHERE name = $2 RETURNING id";
        let row = sqlx::query(sql).bind(hash).bind(name).fetch_optional(writing.on()).await?;
        let id = row.ok_or(Error::NotFound("user"))?.number("id")?;
        let sql = "DELETE FROM sessions WHERE user_id = $1";
        sqlx::query(sql).bind(id).execute(writing.on()).await?;
        note_action(writing.on(), now, by, "user.password", name, "").await?;
        writing.commit().await
    }

    /// Changes what a user may do; `None` ends all of it. Sessions end, and tokens that may do more than
    /// their user. The last admin stays one.
    pub async fn set_role(&self, by: &str, name: &str, role: Option<Role>) -> Result<(), Error> {
        if role == Some(Role::Reporter) {
            return Err(Error::Invalid("a user is a maintainer or an admin".to_owned()));
        }
        let now = self.now();
        let mut writing = self.writing().await?;
        let found = match role {
            Some(role) => {
                let sql = "UPDATE users SET role = $1, disabled = NULL WHERE name = $2";
                sqlx::query(sql).bind(role.word()).bind(name).execute(writing.on()).await?
            }
            None => {
                let sql = "UPDATE users SET disabled = $1 WHERE name = $2";
                sqlx::query(sql).bind(now.0).bind(name).execute(writing.on()).await?
            }
        };
        if found.rows_affected() == 0 {
            return Err(Error::NotFound("user"));
        }
        let sql = "SELECT COUNT(*) AS n FROM users WHERE role = 'admin' AND disabled IS NULL";
        if sqlx::query(sql).fetch_one(writing.on()).await?.number("n")? == 0 {
            return Err(Error::Conflict("the last admin stays an admin".to_owned()));
        }
        let sql = "DELETE FROM sessions WHERE user_id IN (SELECT id FROM users WHERE name = $1)";
        sqlx::query(sql).bind(name).execute(writing.on()).await?;
        for token in tokens_of(writing.on(), name).await? {
            if role.is_none_or(|role| token.role > role) {
                let sql = "UPDATE tokens SET revoked = $1 WHERE id = $2";
                sqlx::query(sql).bind(now.0).bind(token.id).execute(writing.on()).await?;
                note_action(writing.on(), now, by, "token.revoke", &token.name, name).await?;
            }
        }
        let detail = role.map_or("disabled", Role::word);
        note_action(writing.on(), now, by, "user.role", name, detail).await?;
        writing.commit().await
    }

    /// Logs in: a new session, and the secret for its cookie. Nothing if name or password is wrong,
    /// after the same time whichever it is.
    pub async fn log_in(
        &self,
        name: &str,
        password: &str,
    ) -> Result<Option<(Session, String)>, Error> {
        // Made before anybody is looked for, so that who comes first learns nothing by it.
        let nobodys = NOBODYS.get_or_try_init(|| hash_password(secret())).await?;
        let sql = "SELECT id, name, role, created, disabled, password FROM users WHERE name = $1";
        let row = sqlx::query(sql).bind(name).fetch_optional(self.reading()).await?;
        let (found, hash) = match &row {
            Some(row) => (Some(user(row)?), row.text("password")?),
            None => (None, nobodys.clone()),
        };
        let known = found.as_ref().map(|user| user.name.clone()).unwrap_or_default();
        let right = verify(password.to_owned(), hash).await;
        let now = self.now();
        let user = found.filter(|user| right && user.disabled.is_none());
        let mut writing = self.writing().await?;
        let Some(user) = user else {
            // Names that do not exist are one: strangers could make up any number.
            super::noise::count(writing.on(), now, "login.refused", &known).await?;
            writing.commit().await?;
            return Ok(None);
        };
        let (cookie, csrf) = (secret(), secret());
        let expires = now.plus(SESSION);
        let sql = "INSERT INTO sessions (digest, user_id, csrf, created, expires) \
                   VALUES ($1, $2, $3, $4, $5)";
        sqlx::query(sql)
            .bind(hash_of(&cookie))
            .bind(user.id)
            .bind(&csrf)
            .bind(now.0)
            .bind(expires.0)
            .execute(writing.on())
            .await?;
        note_action(writing.on(), now, &user.name, "login", "", "").await?;
        writing.commit().await?;
        Ok(Some((Session { user, csrf, expires }, cookie)))
    }

    /// The session of a cookie.
    pub async fn session(&self, cookie: &str) -> Result<Option<Session>, Error> {
        let sql = "SELECT u.id, u.name, u.role, u.created, u.disabled, s.csrf, s.expires \
                   FROM sessions s JOIN users u ON u.id = s.user_id \
                   WHERE s.digest = $1 AND s.expires > $2 AND u.disabled IS NULL";
        let query = sqlx::query(sql).bind(hash_of(cookie)).bind(self.now().0);
        let row = query.fetch_optional(self.reading()).await?;
        row.map(|row| {
            let (csrf, expires) = (row.text("csrf")?, row.moment("expires")?);
            Ok(Session { user: user(&row)?, csrf, expires })
        })
        .transpose()
    }

    /// Logs out.
    pub async fn log_out(&self, cookie: &str) -> Result<(), Error> {
        let mut writing = self.writing().await?;
        let sql = "DELETE FROM sessions WHERE digest = $1 RETURNING user_id";
        let row = sqlx::query(sql).bind(hash_of(cookie)).fetch_optional(writing.on()).await?;
        let Some(row) = row else { return Ok(()) };
        let sql = "SELECT name FROM users WHERE id = $1";
        let row = sqlx::query(sql).bind(row.number("user_id")?).fetch_one(writing.on()).await?;
        note_action(writing.on(), self.now(), &row.text("name")?, "logout", "", "").await?;
        writing.commit().await
    }

    /// Makes a token; its secret is shown now and never again. Who makes it answers for it, if that is
    /// a user.
    pub async fn add_token(
        &self,
        by: &str,
        name: &str,
        role: Role,
    ) -> Result<(Token, String), Error> {
        let sql = "SELECT name FROM users WHERE name = $1";
        let user = sqlx::query(sql).bind(by).fetch_optional(self.reading()).await?;
        let user = user.map(|row| row.text("name")).transpose()?;
        self.add_token_for(by, user.as_deref(), name, role).await
    }

    /// The same for whoever answers for it: the user behind the token that makes it.
    pub async fn add_token_for(
        &self,
        by: &str,
        owner: Option<&str>,
        name: &str,
        role: Role,
    ) -> Result<(Token, String), Error> {
        let name = crate::grouping::cut(name.trim());
        if name.is_empty() {
            return Err(Error::Invalid("a token needs a name, for those who revoke it".to_owned()));
        }
        let (secret, now) = (format!("stunt_{}", secret()), self.now());
        let mut writing = self.writing().await?;
        let sql = "INSERT INTO tokens (name, digest, role, created, created_by) \
                   VALUES ($1, $2, $3, $4, $5) RETURNING id";
        let id = sqlx::query(sql)
            .bind(&name)
            .bind(hash_of(&secret))
            .bind(role.word())
            .bind(now.0)
            .bind(by)
            .fetch_one(writing.on())
            .await?
            .number("id")?;
        if let Some(owner) = owner {
            let sql = "SELECT COUNT(*) AS n FROM users WHERE name = $1 AND disabled IS NOT NULL";
            if sqlx::query(sql).bind(owner).fetch_one(writing.on()).await?.number("n")? > 0 {
                return Err(Error::Conflict("whoever would answer for it is disabled".to_owned()));
            }
            let sql = "UPDATE tokens SET owner = $1 WHERE id = $2";
            sqlx::query(sql).bind(owner).bind(id).execute(writing.on()).await?;
        }
        note_action(writing.on(), now, by, "token.add", &name, role.word()).await?;
        writing.commit().await?;
        let token = Token {
            id,
            name,
            role,
            created: now,
            created_by: by.to_owned(),
            owner: owner.map(str::to_owned),
            used: None,
            revoked: None,
        };
        Ok((token, secret))
    }

    /// All tokens, the newest first.
    pub async fn tokens(&self) -> Result<Vec<Token>, Error> {
        let sql = "SELECT id, name, role, created, created_by, owner, used, revoked FROM tokens \
                   ORDER BY id DESC";
        sqlx::query(sql).fetch_all(self.reading()).await?.iter().map(token).collect()
    }

    /// Makes a token worth nothing.
    pub async fn revoke_token(&self, by: &str, id: i64) -> Result<(), Error> {
        let now = self.now();
        let mut writing = self.writing().await?;
        let sql = "UPDATE tokens SET revoked = $1 WHERE id = $2 AND revoked IS NULL RETURNING name";
        let row = sqlx::query(sql).bind(now.0).bind(id).fetch_optional(writing.on()).await?;
        let name = row.ok_or(Error::NotFound("token"))?.text("name")?;
        note_action(writing.on(), now, by, "token.revoke", &name, "").await?;
        writing.commit().await
    }

    /// The token with this secret, if it is worth something: it is not revoked, and whoever answers for
    /// it may still do something.
    pub async fn token(&self, secret: &str) -> Result<Option<Token>, Error> {
        let sql = "SELECT id, name, role, created, created_by, owner, used, revoked FROM tokens \
                   WHERE digest = $1 AND revoked IS NULL AND NOT EXISTS (SELECT 1 FROM users \
                   WHERE users.name = tokens.owner AND users.disabled IS NOT NULL)";
        let row = sqlx::query(sql).bind(hash_of(secret)).fetch_optional(self.reading()).await?;
        let Some(found) = row.map(|row| token(&row)).transpose()? else { return Ok(None) };
        let now = self.now();
        // Not at every use: that would make every question a change.
        if found.used.is_none_or(|used| used.plus(Duration::from_secs(3600)) < now) {
            let mut writing = self.writing().await?;
            let sql = "UPDATE tokens SET used = $1 WHERE id = $2";
            sqlx::query(sql).bind(now.0).bind(found.id).execute(writing.on()).await?;
            writing.commit().await?;
        }
        Ok(Some(found))
    }
}

/// The tokens that a user answers for and that are worth something.
async fn tokens_of(on: &mut AnyConnection, name: &str) -> Result<Vec<Token>, Error> {
    let sql = "SELECT id, name, role, created, created_by, owner, used, revoked FROM tokens \
               WHERE owner = $1 AND revoked IS NULL ORDER BY id";
    sqlx::query(sql).bind(name).fetch_all(on).await?.iter().map(token).collect()
}

fn token(row: &AnyRow) -> Result<Token, Error> {
    Ok(Token {
        id: row.number("id")?,
        name: row.text("name")?,
        role: row.text("role")?.parse()?,
        created: row.moment("created")?,
        created_by: row.text("created_by")?,
        owner: row.maybe_text("owner")?,
        used: row.maybe_moment("used")?,
        revoked: row.maybe_moment("revoked")?,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Clock;
    use crate::store::Place;

    /// How many passwords were hashed or compared.
    pub(super) static HASHED: AtomicUsize = AtomicUsize::new(0);

    #[tokio::test(flavor = "multi_thread")]
    async fn attack_tell_names_by_the_time_of_a_login() {
        let folder = std::env::temp_dir().join(secret());
        std::fs::create_dir(&folder).unwrap();
        let place = Place::Sqlite(folder.join("stunt.db"));
        let store = Store::open(&place, Clock::Host).await.unwrap();
        for name in ["anna", "gone"] {
            store.add_user("setup", name, "correct horse", Role::Admin).await.unwrap();
        }
        store.set_role("anna", "gone", None).await.unwrap();
        // The first one makes what names that do not exist are compared with, whoever it is.
        assert!(store.log_in("nobody", "battery staple").await.unwrap().is_none());
        // Time goes by hashes: each takes as long as all the rest a hundred times.
        for name in ["anna", "nobody", "gone", "", "anna "] {
            let before = HASHED.load(Ordering::SeqCst);
            assert!(store.log_in(name, "battery staple").await.unwrap().is_none());
            assert_eq!(HASHED.load(Ordering::SeqCst) - before, 1, "{name:?}");
        }
        // What it is compared with is as dear as what a user has.
        let mine = hash_password("correct horse".to_owned()).await.unwrap();
        let cost = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(cost(NOBODYS.get().unwrap()), cost(&mine));
        store.close().await;
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn few_passwords_are_hashed_at_a_time() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = Vec::new();
        for _ in 0..40 {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            tasks.push(tokio::spawn(aside(move || {
                let others = now.fetch_add(1, Ordering::SeqCst);
                most.fetch_max(others + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                now.fetch_sub(1, Ordering::SeqCst);
            })));
        }
        for task in tasks {
            assert!(task.await.unwrap().is_some());
        }
        assert!(most.load(Ordering::SeqCst) <= HASHES);
        assert!(aside(|| panic!("on purpose")).await.is_none(), "a panic takes no place with it");
        assert!(aside(|| ()).await.is_some());
    }
}
