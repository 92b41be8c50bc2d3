import http from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type Database from 'better-sqlite3';

/**
 * Loaded into a daemon before it starts: ends it with SIGKILL at the place that `KILL_AT` names, as
 * `before-commit:7`, `after-commit:7` or `before-reply:7`. Threads count commits by themselves.
 */
const [place = '', count = ''] = (process.env.KILL_AT ?? '').split(':');
let left = Number(count);
const pass = (here: string): void => {
  if (here === place && --left === 0) process.kill(process.pid, 'SIGKILL');
};

const Sqlite: typeof Database = createRequire(import.meta.url)('better-sqlite3');
const { prepare } = Sqlite.prototype;
Sqlite.prototype.prepare = function (this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  if (sql !== 'COMMIT') return statement;
  const run: (...values: unknown[]) => Database.RunResult = statement.run.bind(statement);
  return Object.assign(statement, {
    run: (...values: unknown[]) => {
      pass('before-commit');
      const result = run(...values);
      pass('after-commit');
      return result;
    },
  });
} as typeof prepare;

const { end } = http.ServerResponse.prototype;
http.ServerResponse.prototype.end = function (this: http.ServerResponse, ...values: unknown[]) {
  if (this.req.method === 'POST') pass('before-reply');
  return Reflect.apply(end, this, values);
} as typeof end;
syncBuiltinESMExports();
