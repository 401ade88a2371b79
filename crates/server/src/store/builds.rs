//! Builds of programs, for replays: by build-id, as files or in the shared database.
//!
//! Always: a build is complete before anybody can name it: a file is renamed into its place, rows
//! are one transaction. What is in a build is never looked at here.

use std::path::PathBuf;

use serde::Serialize;
use sqlx::Row;
use sqlx::any::AnyRow;
use stunt_parcel::Digest;
use tokio::io::AsyncWriteExt;

use super::settings::note_action;
use super::{Columns, Error, Store};
use crate::clock::Moment;

/// How much of a build is one row.
const PART: usize = 1 << 20;

/// A build that replays can use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Build {
    /// Its identity in hexadecimal digits.
    pub build_id: String,
    /// The name of its file.
    pub name: String,
    /// What its maintainers call it.
    pub version: Option<String>,
    /// Its size.
    pub bytes: i64,
    /// The SHA-256 of the file.
    pub digest: String,
    /// Since when it is here.
    pub added: Moment,
    /// Who brought it.
    pub added_by: String,
}

/// A build to be kept.
#[derive(Clone)]
pub struct NewBuild {
    /// Its identity in hexadecimal digits; see [`crate::build_id`].
    pub build_id: String,
    /// The name of its file.
    pub name: String,
    /// What its maintainers call it.
    pub version: Option<String>,
    /// The file.
    pub data: Vec<u8>,
}

fn build(row: &AnyRow) -> Result<Build, Error> {
    Ok(Build {
        build_id: row.text("build_id")?,
        name: row.text("name")?,
        version: row.maybe_text("version")?,
        bytes: row.number("bytes")?,
        digest: row.text("digest")?,
        added: row.moment("added")?,
        added_by: row.text("added_by")?,
    })
}

impl Store {
    /// Keeps a build, in the place of an older one with that identity.
    pub async fn add_build(&self, by: &str, new: &NewBuild) -> Result<Build, Error> {
        let hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        let id = &new.build_id;
        if !(2..=128).contains(&id.len()) || !id.bytes().all(hex) {
            return Err(Error::Invalid("a build-id is 2 to 128 hexadecimal digits".to_owned()));
        }
        let name = crate::grouping::cut(&new.name);
        if name.is_empty() || name.contains('/') || name == "." || name == ".." {
            return Err(Error::Invalid("a build has the name of a file".to_owned()));
        }
        let digest = Digest::of(&new.data).to_string();
        let now = self.now();
        let version = new.version.as_deref().map(crate::grouping::cut);
        if self.inner.builds.is_some() {
            self.write_file(&digest, &new.data).await?;
        }
        let mut writing = self.writing().await?;
        let sql = "SELECT digest FROM builds WHERE build_id = $1";
        let before = sqlx::query(sql).bind(id).fetch_optional(writing.on()).await?;
        let before = before.map(|row| row.text("digest")).transpose()?;
        let sql = "INSERT INTO builds (build_id, name, version, bytes, digest, added, added_by) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (build_id) DO UPDATE SET \
                   name = excluded.name, version = excluded.version, bytes = excluded.bytes, \
                   digest = excluded.digest, added = excluded.added, \
                   added_by = excluded.added_by \
                   RETURNING build_id, name, version, bytes, digest, added, added_by";
        let row = sqlx::query(sql)
            .bind(id)
            .bind(&name)
            .bind(version)
            .bind(i64::try_from(new.data.len()).unwrap_or(i64::MAX))
            .bind(&digest)
            .bind(now.0)
            .bind(by)
            .fetch_one(writing.on())
            .await?;
        if self.inner.builds.is_none() {
            let sql = "DELETE FROM build_data WHERE build_id = $1";
            sqlx::query(sql).bind(id).execute(writing.on()).await?;
            for (part, data) in (0_i64..).zip(new.data.chunks(PART)) {
                let sql = "INSERT INTO build_data (build_id, part, data) VALUES ($1, $2, $3)";
                sqlx::query(sql).bind(id).bind(part).bind(data).execute(writing.on()).await?;
            }
        }
        super::submit::meet(writing.on(), Some(id), None, now).await?;
        note_action(writing.on(), now, by, "build.add", id, &name).await?;
        let unused = match before {
            Some(before) => self.unused(writing.on(), &before).await?,
            None => None,
        };
        writing.commit().await?;
        remove(unused).await;
        build(&row)
    }

    /// The builds, the newest first; those of one program if it is named.
    pub async fn builds(&self, name: Option<&str>) -> Result<Vec<Build>, Error> {
        let sql = "SELECT build_id, name, version, bytes, digest, added, added_by FROM builds \
                   WHERE $1 = '' OR name = $1 ORDER BY added DESC, build_id LIMIT 1000";
        let query = sqlx::query(sql).bind(name.unwrap_or(""));
        query.fetch_all(self.reading()).await?.iter().map(build).collect()
    }

    /// A build by its identity.
    pub async fn build(&self, build_id: &str) -> Result<Build, Error> {
        let sql = "SELECT build_id, name, version, bytes, digest, added, added_by FROM builds \
                   WHERE build_id = $1";
        let row = sqlx::query(sql).bind(build_id).fetch_optional(self.reading()).await?;
        build(&row.ok_or(Error::NotFound("build"))?)
    }

    /// The file of a build.
    pub async fn build_file(&self, build: &Build) -> Result<Vec<u8>, Error> {
        if let Some(path) = self.path_of(&build.digest) {
            return tokio::fs::read(&path).await.map_err(|error| Error::File { path, error });
        }
        let sql = "SELECT data FROM build_data WHERE build_id = $1 ORDER BY part";
        let rows = sqlx::query(sql).bind(&build.build_id).fetch_all(self.reading()).await?;
        let mut data = Vec::new();
        for row in rows {
            let part: Vec<u8> = row.try_get("data")?;
            data.extend(part);
        }
        Ok(data)
    }

    /// Removes a build.
    pub async fn remove_build(&self, by: &str, build_id: &str) -> Result<(), Error> {
        let now = self.now();
        let build = self.build(build_id).await?;
        let mut writing = self.writing().await?;
        let sql = "DELETE FROM builds WHERE build_id = $1";
        sqlx::query(sql).bind(build_id).execute(writing.on()).await?;
        note_action(writing.on(), now, by, "build.remove", build_id, &build.name).await?;
        let unused = self.unused(writing.on(), &build.digest).await?;
        writing.commit().await?;
        remove(unused).await;
        Ok(())
    }

    /// The file of a digest, if builds are files and none has this one.
    async fn unused(
        &self,
        on: &mut sqlx::AnyConnection,
        digest: &str,
    ) -> Result<Option<PathBuf>, Error> {
        let sql = "SELECT COUNT(*) AS n FROM builds WHERE digest = $1";
        let row = sqlx::query(sql).bind(digest).fetch_one(on).await?;
        Ok(if row.number("n")? == 0 { self.path_of(digest) } else { None })
    }

    fn path_of(&self, digest: &str) -> Option<PathBuf> {
        self.inner.builds.as_ref().map(|folder| folder.join(digest))
    }

    /// Writes a file whole or not at all.
    async fn write_file(&self, digest: &str, data: &[u8]) -> Result<(), Error> {
        let Some(path) = self.path_of(digest) else { return Ok(()) };
        let failed = |error| Error::File { path: path.clone(), error };
        let folder = path.parent().unwrap_or(&path);
        tokio::fs::create_dir_all(folder).await.map_err(failed)?;
        let part = path.with_extension("part");
        let mut file = tokio::fs::File::create(&part).await.map_err(failed)?;
        file.write_all(data).await.map_err(failed)?;
        file.sync_all().await.map_err(failed)?;
        tokio::fs::rename(&part, &path).await.map_err(failed)?;
        let folder = tokio::fs::File::open(folder).await.map_err(failed)?;
        folder.sync_all().await.map_err(failed)
    }
}

/// Removes a file that no build has any more. One that stays behind is harmless.
async fn remove(unused: Option<PathBuf>) {
    if let Some(path) = unused {
        let _ = tokio::fs::remove_file(path).await;
    }
}
