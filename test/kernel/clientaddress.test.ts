import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  addressSet,
  clientAddress,
  isLocalRequest,
  isLoopbackHost,
  isShared,
} from '../../src/kernel/clientaddress.js';

export const lab = Lab.script();
const { describe, it } = lab;

const here = { host: '127.0.0.1:3005' };

describe('isFromHere', () => {
  it('takes loopback peers with a loopback Host', () => {
    for (const peer of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect(isLocalRequest(peer, here)).to.be.true();
    }
    for (const host of ['localhost', 'LOCALHOST:3005', '[::1]:3005', '127.0.0.1']) {
      expect(isLocalRequest('127.0.0.1', { host })).to.be.true();
    }
  });

  it('refuses other peers', () => {
    for (const peer of ['10.0.0.1', '192.168.1.1', '::ffff:10.0.0.1', '2001:db8::1', '', 'x']) {
      expect(isLocalRequest(peer, here), peer).to.be.false();
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
      expect(isLocalRequest('127.0.0.1', { host })).to.be.false();
    }
  });

  it('refuses what a proxy passed on', () => {
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'cf-connecting-ip', 'x-real-ip']) {
      expect(isLocalRequest('127.0.0.1', { ...here, [name]: '127.0.0.1' }), name).to.be.false();
    }
  });

  it('refuses a page of another origin', () => {
    expect(isLocalRequest('127.0.0.1', { ...here, origin: 'http://127.0.0.1:3005' })).to.be.true();
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:9999']) {
      expect(isLocalRequest('127.0.0.1', { ...here, origin }), origin).to.be.false();
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
