import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  addressedHost,
  addressSet,
  clientAddress,
  isLocalRequest,
  isLoopbackHost,
  isShared,
  resolveClientAddress,
} from '../../src/kernel/clientaddress.js';

export const lab = Lab.script();
const { describe, it } = lab;

const here = { host: '127.0.0.1:3005' };
const isLocal = (peer: string, headers: Record<string, unknown>, httpVersion = '1.1'): boolean =>
  isLocalRequest(peer, { headers, httpVersion });

describe('isLocalRequest', () => {
  it('takes loopback peers with a loopback Host', () => {
    for (const peer of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(isLocal(peer, here)).to.be.true();
    }
    for (const host of ['localhost', 'LOCALHOST:3005', '[::1]:3005', '127.0.0.1']) {
      expect(isLocal('127.0.0.1', { host })).to.be.true();
    }
  });

  it('refuses other peers', () => {
    for (const peer of ['10.0.0.1', '192.168.1.1', '::ffff:10.0.0.1', '2001:db8::1', '', 'x']) {
      expect(isLocal(peer, here), peer).to.be.false();
    }
  });

  it('refuses other hosts', () => {
    const hosts = [
      'hooks.example.org',
      'localhost.evil.org',
      '127.0.0.1.nip.io',
      'localhost:80:80',
    ];
    for (const host of [...hosts, '', undefined]) {
      expect(isLocal('127.0.0.1', { host })).to.be.false();
    }
  });

  it('refuses what a proxy passed on', () => {
    const names = [
      ...['x-forwarded-for', 'forwarded', 'via', 'cf-connecting-ip', 'x-real-ip'],
      ...['x-forwarded-port', 'x-forwarded-server', 'true-client-ip', 'cf-ray', 'x-client-ip'],
      ...['ngrok-trace-id', 'tailscale-user-login', 'x-original-forwarded-for'],
    ];
    for (const name of names) {
      expect(isLocal('127.0.0.1', { ...here, [name]: '127.0.0.1' }), name).to.be.false();
    }
  });

  it('refuses HTTP/1.0, which a plain proxy_pass of nginx speaks', () => {
    expect(isLocal('127.0.0.1', here, '1.0')).to.be.false();
  });

  it('refuses a page of another origin', () => {
    expect(isLocal('127.0.0.1', { ...here, origin: 'http://127.0.0.1:3005' })).to.be.true();
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:9999']) {
      expect(isLocal('127.0.0.1', { ...here, origin }), origin).to.be.false();
    }
  });
});

describe('clientAddress', () => {
  const trusted = addressSet(['10.0.0.0/8', '::1']);
  const of = (peer: string, forwarded?: string): string =>
    clientAddress(peer, { 'x-forwarded-for': forwarded }, { proxies: trusted, tunnel: null });

  it('is the peer, unless a trusted proxy says otherwise', () => {
    expect(of('192.0.2.1')).to.equal('192.0.2.1');
    expect(of('192.0.2.1', '203.0.113.9')).to.equal('192.0.2.1');
    expect(of('10.1.1.1', '203.0.113.9')).to.equal('203.0.113.9');
    expect(of('::ffff:10.1.1.1', '203.0.113.9')).to.equal('203.0.113.9');
  });

  it('believes no more of the header than the proxies wrote', () => {
    expect(of('10.1.1.1', '1.2.3.4, 203.0.113.9, 10.2.2.2')).to.equal('203.0.113.9');
    expect(of('10.1.1.1', '1.2.3.4, 203.0.113.9')).to.equal('203.0.113.9');
  });

  it('stays with the proxy where the header holds no address', () => {
    for (const header of ['', 'unknown', '1.2.3.4, not an address']) {
      expect(of('10.1.1.1', header)).to.equal('10.1.1.1');
    }
  });
});

describe('what a trusted proxy states', () => {
  const trust = { proxies: addressSet(['127.0.0.1']), tunnel: null };
  const of = (headers: Record<string, string>) => resolveClientAddress('127.0.0.1', headers, trust);
  const known = (address: string) => ({ address, unreadable: null });

  it('is read without port, brackets, quotes and zone', () => {
    const stated: [string, string][] = [
      ['203.0.113.7:51034', '203.0.113.7'],
      ['[2001:db8::1]:443', '2001:db8::1'],
      ['[2001:db8::1]', '2001:db8::1'],
      ['"203.0.113.7"', '203.0.113.7'],
      ['"[2001:db8::1]:443"', '2001:db8::1'],
      ['fe80::1%eth0', 'fe80::1'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['203.0.113.9, 127.0.0.1:4444', '203.0.113.9'],
      ['203.0.113.7:_obfuscated', '203.0.113.7'],
    ];
    for (const [header, address] of stated) {
      expect(of({ 'x-forwarded-for': header })).to.equal(known(address));
    }
  });

  it('is the proxy’s own address where it is none, with what was sent', () => {
    for (const [header, unreadable] of [
      ['unknown', 'unknown'],
      ['203.0.113.7, ', ' '],
      ['203.0.113.7, _hidden', ' _hidden'],
      ['1.2.3', '1.2.3'],
    ]) {
      const found = of({ 'x-forwarded-for': header ?? '' });
      expect(found).to.equal({ address: '127.0.0.1', unreadable: unreadable ?? '' });
    }
    expect(of({})).to.equal(known('127.0.0.1'));
  });

  it('is read from Forwarded where there is no X-Forwarded-For', () => {
    const stated: [string, string][] = [
      ['for=203.0.113.7', '203.0.113.7'],
      ['For="[2001:db8::1]:4711"', '2001:db8::1'],
      ['for=192.0.2.1;proto=https, for=203.0.113.7;by=10.0.0.1', '203.0.113.7'],
      ['by="a,for=1.2.3.4";for="203.0.113.7:80"', '203.0.113.7'],
    ];
    for (const [header, address] of stated) {
      expect(of({ forwarded: header })).to.equal(known(address));
    }
    const both = { forwarded: 'for=1.2.3.4', 'x-forwarded-for': '203.0.113.7' };
    expect(of(both)).to.equal(known('203.0.113.7'));
  });
});

describe('addressedHost', () => {
  const trust = { proxies: addressSet(['127.0.0.1']), tunnel: null };
  const of = (headers: Record<string, string>, peer = '127.0.0.1') =>
    addressedHost(peer, headers, trust);

  it('has no port that its scheme implies, and no final dot', () => {
    for (const host of ['name.example', 'NAME.example:443', 'name.example.', 'name.example.:80']) {
      expect(of({ host })).to.equal('name.example');
    }
    expect(of({ host: 'localhost:3005' })).to.equal('localhost:3005');
    expect(of({ host: 'name.example.:8443' })).to.equal('name.example:8443');
  });

  it('is what a trusted proxy forwards, and nobody else', () => {
    const headers = { host: '127.0.0.1:3005', 'x-forwarded-host': 'evil.example, name.example' };
    expect(of(headers)).to.equal('name.example');
    expect(of(headers, '203.0.113.7')).to.equal('127.0.0.1:3005');
  });
});

describe('a tunnel that ends here', () => {
  const proxies = addressSet([]);
  const via = (header: string | null, headers: Record<string, string>, peer = '127.0.0.1') =>
    clientAddress(peer, headers, { proxies, tunnel: { header } });

  it('tells the address in its own header, which nobody else can', () => {
    const told = { 'cf-connecting-ip': '203.0.113.9', 'x-forwarded-for': '1.2.3.4' };
    expect(via('cf-connecting-ip', told)).to.equal('203.0.113.9');
    expect(via('cf-connecting-ip', told, '192.0.2.1')).to.equal('192.0.2.1');
    expect(via('x-forwarded-for', told)).to.equal('1.2.3.4');
    expect(via(null, told)).to.equal('127.0.0.1');
    expect(via('cf-connecting-ip', { 'cf-connecting-ip': '1.2.3.4, 5.6.7.8' })).to.equal(
      '127.0.0.1',
    );
  });

  it('makes many look like one where it tells none', () => {
    const shared = (peer: string, header: string | null) =>
      isShared(peer, { proxies, tunnel: { header } });
    expect(shared('127.0.0.1', null)).to.be.true();
    expect(shared('::ffff:127.0.0.1', null)).to.be.true();
    expect(shared('192.0.2.1', null)).to.be.false();
    expect(shared('127.0.0.1', 'cf-connecting-ip')).to.be.false();
    expect(isShared('127.0.0.1', { proxies, tunnel: null })).to.be.false();
  });
});

describe('addressSet', () => {
  it('refuses what is no address or CIDR', () => {
    for (const entry of ['example.org', '10.0.0.0/33', '10.0.0.0/x', '10.0.0', '::1/129']) {
      expect(() => addressSet([entry]), entry).to.throw();
    }
  });
});

describe('isLoopbackHost', () => {
  it('knows which hosts only this machine reaches', () => {
    const hosts = ['127.0.0.1', '127.1.2.3', '::1', 'localhost', '0.0.0.0', '::', '10.0.0.1'];
    expect(hosts.filter(isLoopbackHost)).to.equal(['127.0.0.1', '127.1.2.3', '::1', 'localhost']);
  });
});
