// The tables that move, in an order in which each refers only to earlier ones. Other tables need no copy: triggers fill counts,
// `move-contents.ts` copies contents, and deleted folders are cleared before the move.

export interface MovedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** SQL expression that is unique for each row. Its values are compared byte by byte. */
  readonly key: string
}

const table = (name: string, columns: string, key = 'id'): MovedTable => ({
  name,
  columns: columns.split(' '),
  key,
})

export const movedTables: readonly MovedTable[] = [
  table('projects', 'id name created_at clock_ms'),
  table('api_keys', 'id hash name created_at expires_at last_used_at access path'),
  table('key_projects', 'key_id project_id', "key_id || ' ' || project_id"),
  table('nodes', 'id project_id parent_id name path kind modified_at size mimetype blob'),
  table('tables', 'id project_id name kind created_at settings inferred asset_count'),
  table('assets', 'id table_id number name row_data'),
  table('documents', 'id project_id table_id filename mimetype size blob created_at'),
  table('runs', 'id table_id status created_at input data reasoning'),
]
