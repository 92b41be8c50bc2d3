import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { type Ids, oneOfEach } from './oneofeach.js';
import { procedureStatements, queriesOf, recordStatements, unexpectedScans } from './plans.js';
import { fill, guarded } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const reads = guarded.filter(({ endpoint: { method } }) => method === 'GET');

describe('the statements of the database', () => {
  let app: TestApp;
  let admin: string;
  let ids: Ids;
  let recording: ReturnType<typeof recordStatements>;
  before(async () => {
    recording = recordStatements();
    app = await startApp();
    admin = (await app.register('admin')).token;
    ids = await oneOfEach(app, admin);
  });
  after(() => app.stop());

  it('read no whole table that grows, of every list with each of its filters', async () => {
    const answered: string[] = [];
    for (const { area, name, endpoint } of reads) {
      const path = fill(endpoint.path, (parameter) => ids[area]?.[parameter] ?? 'none');
      const queries = endpoint.query ? queriesOf(endpoint.query) : [''];
      for (const query of queries.filter((one) => !/[?&]wait=/.test(one))) {
        const { status } = await app.call('GET', `${path}${query}`, { token: admin });
        if (status === 200) answered.push(name);
      }
    }
    expect(new Set(answered).size).to.be.above(45);
    const found = recording.stop();
    expect(found.size).to.be.above(100);
    expect(unexpectedScans(found)).to.equal([]);
  });

  it('read none in the procedures of the threads', () => {
    const found = procedureStatements();
    expect(found.size).to.be.above(50);
    expect(unexpectedScans(found)).to.equal([]);
  });
});
