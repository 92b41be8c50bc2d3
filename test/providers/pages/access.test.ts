import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { systemClock } from '../../../src/kernel/clock.js';
import { createHttp } from '../../../src/kernel/http.js';
import { createPageAccess } from '../../../src/providers/pages/access.js';
import { readPageInWorker } from '../../../src/providers/pages/pageworker.js';
import { startWeb } from '../../harness/web.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('a page for a program', () => {
  it('is asked for at no host that forbids it, also on the way', async () => {
    const here: Parameters<typeof startWeb>[0][number] = { '/fine': '<p>fine</p>' };
    const other = { '/robots.txt': 'User-agent: *\nDisallow: /private\n', '/open': '<p>open</p>' };
    const web = await startWeb([here, other]);
    const leads = (path: string, host: number, to: string): void => {
      here[path] = (response) => response.writeHead(302, { location: web.at(host, to) }).end();
    };
    leads('/go', 1, '/private');
    leads('/on', 1, '/open');
    const http = createHttp({ allow: web.egressAllow });
    const clock = { ...systemClock, wait: async () => undefined };
    const { getAllowedPage } = createPageAccess({ http, clock, readPage: readPageInWorker });
    const asker = { userId: 'ada', signal: new AbortController().signal };
    const refusal = getAllowedPage(web.at(0, '/go'), asker);
    await expect(refusal).to.reject('its robots.txt disallows it');
    expect(web.visitsOf(web.at(1, '/private'))).to.equal(0);
    const page = await getAllowedPage(web.at(0, '/on'), asker);
    expect([page.url, page.body.toString()]).to.equal([web.at(1, '/open'), '<p>open</p>']);
    await http.close();
    await web.stop();
  });
});
