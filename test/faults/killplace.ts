import http from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into a daemon before it starts: ends it with SIGKILL at the place that `KILL_AT` names, as
 * `before-commit:7`, `after-commit:7` or `before-reply:7`. Threads count commits by themselves.
 */
const [place = '', count = ''] = (process.env.KILL_AT ?? '').split(':');
let left = Number(count);
const pass = (here: string): void => {
  if (here === place && --left === 0) process.kill(process.pid, 'SIGKILL');
};

/** What is changed of better-sqlite3. */
interface Sqlite {
  prototype: { prepare(sql: string): { run(...values: unknown[]): unknown } };
}

const sqlite: Sqlite = createRequire(import.meta.url)('better-sqlite3');
const { prepare } = sqlite.prototype;
sqlite.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (sql !== 'COMMIT') return statement;
  const run = statement.run.bind(statement);
  statement.run = (...values) => {
    pass('before-commit');
    const result = run(...values);
    pass('after-commit');
    return result;
  };
  return statement;
};

const { end } = http.ServerResponse.prototype;
http.ServerResponse.prototype.end = function (this: http.ServerResponse, ...values: unknown[]) {
  if (this.req.method === 'POST') pass('before-reply');
  return Reflect.apply(end, this, values);
} as typeof end;
syncBuiltinESMExports();
