import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { hostRefusal } from '../../src/vault/allowedhosts.js';

export const lab = Lab.script();
const { describe, it } = lab;

const may = (url: string, ...allowedHosts: string[]): boolean =>
  hostRefusal(new URL(url), { name: 'pat', allowedHosts }) === null;

describe('where a credential may be sent', () => {
  for (const [url, ...hosts] of [
    ['https://api.example.org/x', 'api.example.org'],
    ['https://API.example.org:443/', 'api.example.org'],
    ['https://api.example.org/', 'api.example.org:443'],
    ['http://nas.lan/', 'nas.lan:80'],
    ['http://nas.lan:8080/', 'nas.lan:8080'],
    ['http://127.0.0.1/', '127.0.0.1'],
    ['http://localhost/', 'localhost'],
    ['http://[::1]/', '[::1]'],
  ] as const) {
    it(`is ${url}, named ${hosts}`, () => {
      expect(may(url, ...hosts)).to.be.true();
    });
  }

  for (const [url, ...hosts] of [
    ['http://api.example.org/', 'api.example.org'],
    ['http://api.example.org/', 'api.example.org:443'],
    ['https://api.example.org/', 'api.example.org:80'],
    ['https://api.example.org:8443/', 'api.example.org'],
    ['https://api.example.org./', 'api.example.org'],
    ['https://api.example.org@evil.example/', 'api.example.org'],
    ['https://evil.example/api.example.org', 'api.example.org'],
    ['https://x.api.example.org/', 'api.example.org'],
    ['http://127.0.0.1.evil.example/', '127.0.0.1.evil.example'],
    ['https://api.example.org/'],
  ] as const) {
    it(`is not ${url}, named ${hosts.join() || 'nothing'}`, () => {
      expect(may(url, ...hosts)).to.be.false();
    });
  }

  it('says how plain http is allowed', () => {
    const lending = { name: 'pat', allowedHosts: ['nas.lan'] };
    expect(hostRefusal(new URL('http://nas.lan/'), lending)).to.equal(
      'The credential pat may be sent to nas.lan only over https. To allow http, add nas.lan:80 to its allowedHosts',
    );
  });
});
