// Migrations to the tables of `../database.ts`, `../../tables/database.ts` and `database.ts` on PostgreSQL. A released one is
// never changed; a new one follows it.
//
// Paths and names are compared byte by byte, whatever the collation of the database: under that of a language, the range of
// `/a/…` would include `/A/x` and `/á/x`. No index holds a text that may be longer than a third of a page (2,704 bytes).

import { type Kysely, type Migration, sql } from '../kysely.ts'
import { type CountedText, bytesOf, countedTexts } from '../counted-text.ts'

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_store': { up: (store) => run(store, storeTables) },
  '0002_usage': { up: (store) => run(store, usage) },
  '0003_tables': { up: (store) => run(store, tablesOfProjects) },
  '0004_request_rates': { up: (store) => run(store, requestRates) },
  '0005_usage_of_rows': { up: (store) => run(store, countedTexts.map(countText).join('\n')) },
  '0006_administration': { up: (store) => run(store, administration) },
}

async function run(store: Kysely<unknown>, statements: string): Promise<void> {
  await sql.raw(statements).execute(store)
}

const text = 'text collate "C"'

const storeTables = `
create table projects (
  id ${text} primary key,
  name ${text} not null unique,
  created_at bigint not null,
  clock_ms bigint not null
);
create table api_keys (
  id ${text} primary key,
  hash ${text} not null unique,
  name ${text},
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  access ${text} not null,
  path ${text} not null
);
create table key_projects (
  key_id ${text} not null references api_keys,
  project_id ${text} not null references projects,
  primary key (key_id, project_id)
);
create index key_projects_project on key_projects (project_id);
create table blobs (
  sha256 ${text} primary key,
  size bigint not null,
  bytes bytea,
  key ${text} unique,
  unreferenced_since bigint,
  check ((bytes is null) <> (key is null))
);
-- Small contents are hashes, drafts, pictures: compressing them again costs more than it saves.
alter table blobs alter column bytes set storage external;
create index blobs_unreferenced on blobs (unreferenced_since) where unreferenced_since is not null;
-- No reference to the parent: all who change a project hold its row, and a million rows are deleted without a million look-ups.
create table nodes (
  id ${text} primary key,
  project_id ${text} not null references projects,
  parent_id ${text},
  name ${text} not null,
  path ${text} not null,
  kind ${text} not null,
  modified_at bigint not null,
  size bigint,
  mimetype ${text},
  blob ${text} references blobs deferrable initially deferred,
  constraint nodes_name unique (parent_id, name),
  constraint nodes_path unique (project_id, path)
);
create index nodes_blob on nodes (blob) where blob is not null;
create table detached (
  project_id ${text} not null references projects,
  path ${text} not null,
  detached_at bigint not null,
  primary key (project_id, path)
);
create table link_secrets (
  number bigint primary key,
  secret bytea not null,
  since bigint not null
);
create table upkeep (
  name ${text} primary key,
  done_at bigint not null
);`

/** Triggers per statement, not per row: a batch of deletions is counted, and its contents marked, in one step. */
const usage = `
create table usage (
  project_id ${text} primary key,
  documents bigint not null,
  bytes bigint not null
);
create function docmount_added() returns trigger language plpgsql as $$
begin
  insert into usage as held (project_id, documents, bytes)
    select project_id, count(*), sum(size)::bigint from added where blob is not null group by project_id
    on conflict (project_id) do update set
      documents = held.documents + excluded.documents, bytes = held.bytes + excluded.bytes;
  return null;
end $$;
create function docmount_removed() returns trigger language plpgsql as $$
begin
  update usage as held set documents = held.documents - gone.documents, bytes = held.bytes - gone.bytes
    from (select project_id, count(*) as documents, sum(size)::bigint as bytes
      from removed where blob is not null group by project_id) as gone
    where held.project_id = gone.project_id;
  -- In one order, so that no two wait for each other.
  update blobs set unreferenced_since = (extract(epoch from clock_timestamp()) * 1000)::bigint
    where sha256 in (select sha256 from blobs
      where sha256 in (select blob from removed where blob is not null) order by sha256 for update);
  return null;
end $$;
create function docmount_project_removed() returns trigger language plpgsql as $$
begin
  delete from usage where project_id = old.id;
  return null;
end $$;
create trigger added after insert on nodes
  referencing new table as added for each statement execute function docmount_added();
create trigger removed after delete on nodes
  referencing old table as removed for each statement execute function docmount_removed();
create trigger removed after delete on projects
  for each row execute function docmount_project_removed();`

const tablesOfProjects = `
create table tables (
  id ${text} primary key,
  project_id ${text} not null references projects,
  name ${text} not null,
  kind ${text} not null,
  created_at bigint not null,
  settings ${text} not null,
  inferred ${text} not null,
  asset_count bigint not null
);
create unique index tables_name on tables (project_id, md5(name));
create table assets (
  id ${text} primary key,
  table_id ${text} not null references tables,
  number bigint not null,
  name ${text} not null,
  row_data ${text} not null,
  constraint assets_number unique (table_id, number)
);
create table documents (
  id ${text} primary key,
  project_id ${text} not null references projects,
  table_id ${text} not null references tables,
  filename ${text} not null,
  mimetype ${text} not null,
  size bigint not null,
  blob ${text} references blobs deferrable initially deferred,
  created_at bigint not null
);
create index documents_blob on documents (blob) where blob is not null;
create table runs (
  id ${text} primary key,
  table_id ${text} not null references tables,
  status ${text} not null,
  created_at bigint not null,
  input ${text} not null,
  data ${text},
  reasoning ${text}
);
create index runs_table on runs (table_id);
create trigger added after insert on documents
  referencing new table as added for each statement execute function docmount_added();
create trigger removed after delete on documents
  referencing old table as removed for each statement execute function docmount_removed();`

/** Rows are of use for seconds: they need no write-ahead log, and free space on their pages makes updates cheap. */
const requestRates = `
create unlogged table request_rates (
  name ${text} primary key,
  full_at double precision not null
) with (fillfactor = 50);`

const administration = `
create table administration (
  id ${text} primary key,
  at bigint not null,
  entry ${text} not null
);
create index runs_time on runs (created_at);`

/** Counts the bytes of texts, present ones now and later ones by triggers. They do not count as documents. */
function countText(counted: CountedText): string {
  const { table, projectOf } = counted
  const count = (rows: string): string => `insert into usage as held (project_id, documents, bytes)
    select ${projectOf('added')}, 0, sum(${textBytes(counted, 'added')})::bigint from ${rows} group by 1
    on conflict (project_id) do update set bytes = held.bytes + excluded.bytes`
  return `${count(`${table} as added`)};
create function docmount_text_added_${table}() returns trigger language plpgsql as $$
begin
  ${count('added')};
  return null;
end $$;
create function docmount_text_removed_${table}() returns trigger language plpgsql as $$
begin
  update usage as held set bytes = held.bytes - gone.bytes
    from (select ${projectOf('removed')} as project_id, sum(${textBytes(counted, 'removed')})::bigint as bytes
      from removed group by 1) as gone
    where held.project_id = gone.project_id;
  return null;
end $$;
create trigger text_added after insert on ${table}
  referencing new table as added for each statement execute function docmount_text_added_${table}();
create trigger text_removed after delete on ${table}
  referencing old table as removed for each statement execute function docmount_text_removed_${table}();`
}

/** SQL for the bytes that the row of alias `row` counts. */
export function textBytes(counted: CountedText, row: string): string {
  return bytesOf(counted, row, (value) => `octet_length(${value})`)
}
