import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Kysely } from 'kysely';
import { threadDialect } from '../../src/store/dialect.js';
import type { Tables } from '../../src/store/tables.js';
import { runLoopTurns } from '../harness/turns.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('the dialect of the database threads', () => {
  it('sends a read while another has no reply yet', async () => {
    const replies: ((rows: unknown[]) => void)[] = [];
    const performer = {
      perform: () =>
        new Promise((resolve) => {
          replies.push((rows) => resolve([{ rows, changes: 0 }]));
        }),
    };
    const db = new Kysely<Tables>({ dialect: threadDialect(performer, performer) });
    const reads = ['a', 'b'].map((name) =>
      db.selectFrom('facts').select('value').where('name', '=', name).execute(),
    );
    await runLoopTurns();
    expect(replies.length).to.equal(2);
    for (const [at, reply] of replies.entries()) reply([{ value: String(at) }]);
    expect(await Promise.all(reads)).to.equal([[{ value: '0' }], [{ value: '1' }]]);
  });
});
