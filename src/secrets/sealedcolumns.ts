/** A column of sealed values. All fields but `where` are SQL. */
export interface SealedColumn {
  table: string;
  /** A column that is unique within the table. */
  key: string;
  column: string;
  /** The context to which a value is bound. */
  bound: string;
  where?: string;
}

/** A fact that only the right master key opens. */
export const CHECK = 'master_key_check';
export const CODE_KEY = 'code_key';
export const PUSH_KEY = 'push_key';

const listSecretColumns = (table: string, ...columns: string[]): SealedColumn[] =>
  columns.map((column) => ({ table, key: 'id', column, bound: `'${table}:' || id || ':secret'` }));

/** A new sealed column must be added here. */
export const SEALED: SealedColumn[] = [
  { table: 'signing_keys', key: 'id', column: 'sealed', bound: `'signing_keys:' || id` },
  ...listSecretColumns('hooks', 'secret_sealed', 'old_secret_sealed'),
  ...listSecretColumns('webhooks', 'secret_sealed', 'old_secret_sealed'),
  {
    table: 'webhooks',
    key: 'id',
    column: 'headers_sealed',
    bound: `'webhooks:' || id || ':headers'`,
  },
  ...listSecretColumns('channels', 'secret_sealed'),
  { table: 'platforms', key: 'kind', column: 'secrets_sealed', bound: `'platforms:' || kind` },
  { table: 'totp', key: 'user_id', column: 'sealed', bound: `'totp:' || user_id` },
  { table: 'mcp_servers', key: 'name', column: 'sealed', bound: `'mcp:' || name` },
  { table: 'models', key: 'id', column: 'key_sealed', bound: `'models:' || id || ':key'` },
  {
    table: 'credential_versions',
    key: 'rowid',
    column: 'sealed',
    bound: `'vault:' || user_id || ':' || credential_id || ':' || version`,
  },
  { table: 'tunnel', key: 'id', column: 'token_sealed', bound: `'tunnel:' || id` },
  {
    table: 'facts',
    key: 'name',
    column: 'value',
    bound: `'facts:' || name`,
    where: `name IN ('${CHECK}', '${CODE_KEY}', '${PUSH_KEY}')`,
  },
];
