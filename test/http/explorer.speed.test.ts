import { readFile } from 'node:fs/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { DOCUMENT_FILE, describeApi } from '../../src/http/explorer.js';
import { version } from '../../src/version.js';
import { limitMs, watchLoop } from '../generated/block.js';
import { startApp, type TestApp } from '../harness/app.js';

/** G16. */
const MAX_TURN_MS = 50;

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('the API document', () => {
  let app: TestApp;
  let text: string;
  /** The longest turn of the event loop during the first request. */
  let firstMs: number;
  before(async () => {
    app = await startApp();
    const loop = watchLoop();
    ({ text } = await app.call('GET', '/swagger.json'));
    firstMs = loop.stop().turnMs;
  });
  after(() => app.stop());

  it('is a file that the build has made, and holds nobody up', async () => {
    const loop = watchLoop();
    const replies = await Promise.all(
      ['/swagger.json', '/swagger', '/swaggerui/swagger-ui-bundle.js'].map((path) =>
        app.call('GET', path),
      ),
    );
    const { turnMs } = loop.stop();
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    expect(Math.max(firstMs, turnMs)).to.be.below(limitMs(MAX_TURN_MS));
    expect(replies[0]?.text).to.equal(await readFile(DOCUMENT_FILE, 'utf8'));
    expect(text).to.equal(JSON.stringify(await describeApi(version)));
  });
});
