import { createServer } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp } from '../../../src/kernel/http.js';
import { createFindMailServers, parseAutoconfig } from '../../../src/providers/mail/autoconfig.js';

export const lab = Lab.script();
const { describe, it } = lab;

const server = (type: string, host: string, port: number, socketType: string, username: string) => `
  <${type === 'smtp' ? 'outgoing' : 'incoming'}Server type="${type}">
    <hostname>${host}</hostname><port>${port}</port><socketType>${socketType}</socketType>
    <username>${username}</username><authentication>password-cleartext</authentication>
  </${type === 'smtp' ? 'outgoing' : 'incoming'}Server>`;

const config = (...servers: string[]) => `<?xml version="1.0"?>
<clientConfig version="1.1"><emailProvider id="example.org">
  <domain>example.org</domain><displayName>Example &amp; Sons</displayName>
  ${servers.join('')}
</emailProvider></clientConfig>`;

const ADA = 'ada@example.org';

describe('autoconfig', () => {
  it('takes the first server of each kind that has TLS', () => {
    const text = config(
      server('pop3', 'pop.example.org', 995, 'SSL', '%EMAILADDRESS%'),
      server('imap', 'plain.example.org', 143, 'plain', '%EMAILADDRESS%'),
      server('imap', 'IMAP.%EMAILDOMAIN%', 993, 'SSL', '%EMAILADDRESS%'),
      server('imap', 'other.example.org', 143, 'STARTTLS', '%EMAILADDRESS%'),
      server('smtp', 'smtp.example.org', 587, 'STARTTLS', '%EMAILADDRESS%'),
    );
    expect(parseAutoconfig(text, ADA)).to.equal({
      name: 'Example & Sons',
      imap: { host: 'imap.example.org', port: 993, tls: 'implicit' },
      smtp: { host: 'smtp.example.org', port: 587, tls: 'starttls' },
      username: 'address',
      oauth2: null,
      hint: null,
    });
  });

  it('knows a login by what stands before the @', () => {
    const text = config(
      server('imap', 'imap.example.org', 993, 'SSL', '%EMAILLOCALPART%'),
      server('smtp', 'smtp.example.org', 465, 'SSL', '%EMAILLOCALPART%'),
    );
    expect(parseAutoconfig(text, ADA)?.username).to.equal('local');
  });

  it('takes nothing without TLS, and nothing that is no description', () => {
    const imap = server('imap', 'imap.example.org', 993, 'SSL', 'x');
    const odd = [
      config(imap, server('smtp', 'smtp.example.org', 25, 'plain', 'x')),
      config(imap),
      config(imap, server('smtp', 'evil/../host', 465, 'SSL', 'x')),
      config(imap, server('smtp', 'smtp.example.org', 70_000, 'SSL', 'x')),
      '<html><body>Not found</body></html>',
      '',
      '<clientConfig><incomingServer type="imap"><hostname>',
    ];
    expect(odd.map((text) => parseAutoconfig(text, ADA))).to.equal(odd.map(() => null));
  });

  it('asks one place after the other, and needs none for a provider that is known', async () => {
    const asked: string[] = [];
    const text = config(
      server('imap', 'imap.example.org', 993, 'SSL', '%EMAILADDRESS%'),
      server('smtp', 'smtp.example.org', 465, 'SSL', '%EMAILADDRESS%'),
    );
    const web = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/second') response.end(text);
      else response.writeHead(404).end('no');
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const address = web.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const http = createHttp({ allow: [`127.0.0.1:${port}`] });
    const places = () =>
      ['first', 'second', 'third'].map((path) => `http://127.0.0.1:${port}/${path}`);
    const find = createFindMailServers(http, places);
    const { signal } = new AbortController();
    expect(await find('ada@gmail.com', signal)).to.include({ source: 'preset', name: 'Gmail' });
    expect(asked).to.equal([]);
    expect(await find(ADA, signal)).to.include({ source: 'autoconfig', name: 'Example & Sons' });
    expect(asked).to.equal(['/first', '/second']);
    // An address that the guard refuses is as good as one that says nothing.
    const refused = createFindMailServers(http, () => ['https://10.0.0.1/']);
    expect(await refused(ADA, signal)).to.be.null();
    await http.close();
    web.close();
  });
});
