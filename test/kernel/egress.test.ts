import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { BadUrl, createEgress, EgressRefused, parseUrl } from '../../src/kernel/egress.js';
import { spellings } from './spellings.js';

export const lab = Lab.script();
const { describe, it } = lab;

const mayReach = (allow: string[], url: string): boolean => {
  try {
    createEgress(allow).check(parseUrl(url));
    return true;
  } catch (error) {
    if (error instanceof EgressRefused) return false;
    throw error;
  }
};

const mayDial = (allow: string[], host: string, address: string): boolean => {
  try {
    createEgress(allow).checkDial({ host, port: 80, address });
    return true;
  } catch (error) {
    if (error instanceof EgressRefused) return false;
    throw error;
  }
};

describe('egress', () => {
  it('refuses every spelling of an address that is not public', () => {
    const all = spellings();
    expect(all.length).to.be.at.least(200);
    expect(all.filter((host) => mayReach([], `http://${host}:8080/`))).to.equal([]);
  });

  it('refuses them where slashes and scheme are odd too', () => {
    const odd = [
      'http:127.0.0.1/',
      'http:/127.0.0.1/',
      'http:///127.0.0.1/',
      'http:\\\\127.0.0.1\\',
      'HTTP://127.0.0.1/',
      ' http://127.0.0.1/ ',
      'https://127.0.0.1/',
      'http://127.0.0.1\\@example.com/',
      'http://127.0.0.1#@example.com/',
      'http://127.0.0.1?@example.com/',
    ];
    expect(odd.filter((url) => mayReach([], url))).to.equal([]);
  });

  it('lets public hosts pass', () => {
    const urls = [
      'https://example.com/',
      'http://example.com:8080/',
      'https://8.8.8.8/',
      'https://[2606:4700::1111]/',
      'https://notlocalhost/',
      'https://local.example/',
    ];
    expect(urls.filter((url) => !mayReach([], url))).to.equal([]);
  });

  it('draws the line where the registries draw it', () => {
    const last = [
      ['9.255.255.255', '10.0.0.0'],
      ['100.63.255.255', '100.64.0.0'],
      ['126.255.255.255', '127.0.0.0'],
      ['169.253.255.255', '169.254.0.0'],
      ['172.15.255.255', '172.16.0.0'],
      ['192.167.255.255', '192.168.0.0'],
      ['198.17.255.255', '198.18.0.0'],
      ['223.255.255.255', '224.0.0.0'],
      ['2001:200::', '2001:1ff:ffff::'],
      ['2001:db7:ffff::', '2001:db8::'],
      ['2003::', '2002:ffff::'],
      ['3ffe:ffff::', '3fff::'],
      ['2000::', '1fff:ffff::'],
    ];
    const first = [
      ['1.0.0.0', '0.255.255.255'],
      ['11.0.0.0', '10.255.255.255'],
      ['100.128.0.0', '100.127.255.255'],
      ['172.32.0.0', '172.31.255.255'],
      ['198.20.0.0', '198.19.255.255'],
      ['3fff:1000::', '3fff:fff::'],
    ];
    for (const [outside = '', inside = ''] of [...last, ...first])
      expect([outside, inside].map((address) => mayDial([], 'a.test', address))).to.equal([
        true,
        false,
      ]);
  });

  it('refuses to dial what is no plain address', () => {
    const odd = ['', 'localhost', '127.1', 'fe80::1%eth0', '2606:4700::1111%eth0', '::g'];
    expect(odd.filter((address) => mayDial([], 'a.test', address))).to.equal([]);
  });

  it('names the setting when it refuses', () => {
    const refused = expect(() => createEgress([]).check(new URL('http://git.local/'))).to.throw(
      EgressRefused,
    );
    expect(refused).to.include({ host: 'git.local', effectBegan: false, name: 'EgressRefused' });
    expect(refused.message).to.contain(['egressAllow', 'ADJUTANT_EGRESS_ALLOW']);
  });

  it('allows what an entry names, and nothing beside it', () => {
    const cases: [entry: string, allowed: string[], refused: string[]][] = [
      ['git.local', ['http://git.local/', 'https://GIT.local:8443/'], ['http://x.git.local/']],
      [
        'Git.Local:3000',
        ['http://git.local:3000/'],
        ['http://git.local/', 'http://git.local:300/'],
      ],
      ['localhost:443', ['https://localhost/'], ['http://localhost/']],
      ['127.0.0.1', ['http://127.1/', 'http://0x7f000001:81/'], ['http://127.0.0.2/']],
      ['127.0.0.1:80', ['http://127.0.0.1/'], ['https://127.0.0.1/', 'http://127.0.0.1:81/']],
      ['127.1:80', ['http://127.0.0.1/'], ['http://127.0.0.1:81/']],
      ['::1', ['http://[::1]/', 'http://[0::1]:81/'], ['http://[::2]/', 'http://127.0.0.1/']],
      ['[::1]:80', ['http://[::1]/'], ['http://[::1]:81/']],
      ['[fd00::5]', ['http://[fd00::5]:9/'], ['http://[fd00::6]/']],
      ['10.0.0.0/8', ['http://10.255.0.1:99/'], ['http://11.0.0.1.nip.local/', 'http://172.16.1/']],
      ['192.168.4.0/22', ['http://192.168.7.255/'], ['http://192.168.8.0/', 'http://192.168.3.9/']],
      ['fd00::/9', ['http://[fd7f::1]/'], ['http://[fd80::1]/', 'http://10.0.0.1/']],
      ['0.0.0.0/0', ['http://127.0.0.1/'], ['http://[::ffff:127.0.0.1]/', 'http://[::1]/']],
    ];
    for (const [entry, allowed, refused] of cases) {
      expect(allowed.filter((url) => !mayReach([entry], url))).to.equal([]);
      expect(refused.filter((url) => mayReach([entry], url))).to.equal([]);
    }
  });

  it('allows by name whatever the name resolves to, and by network any name', () => {
    expect(mayDial(['git.test'], 'git.test', '10.0.0.5')).to.be.true();
    expect(mayDial(['git.test'], 'other.test', '10.0.0.5')).to.be.false();
    expect(mayDial(['10.0.0.0/8'], 'any.test', '10.0.0.5')).to.be.true();
    expect(mayDial(['git.test:81'], 'git.test', '10.0.0.5')).to.be.false();
  });

  it('never allows the metadata services', () => {
    const allow = [
      '0.0.0.0/0',
      '::/0',
      '169.254.169.254',
      '169.254.169.254:80',
      'metadata.google.internal',
      'metadata',
    ];
    const hosts = [
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '0251.0376.0251.0376',
      '169.254.43518',
      '169.254.170.2',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      '[fd00:ec2::254]',
      '[fd20:ce::254]',
      '[::ffff:169.254.169.254]',
      '[::169.254.169.254]',
      '[64:ff9b::169.254.169.254]',
      '[64:ff9b:1:a9fe:a9:fe00::]',
      '[2002:a9fe:a9fe::1]',
      '[2001::5601:5601]',
      '[fe80::a9fe:a9fe]',
      'metadata.google.internal',
      'METADATA.google.internal',
      'metadata.google.internal.',
      'metadata',
    ];
    expect(hosts.filter((host) => mayReach(allow, `http://${host}/`))).to.equal([]);
    const addresses = ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254'];
    expect(addresses.filter((one) => mayDial([...allow, 'a.test'], 'a.test', one))).to.equal([]);
    expect(mayReach(allow, 'http://169.254.169.253/')).to.be.true();
  });

  it('stops at an entry that is none', () => {
    const entries = [
      '',
      ' ',
      'http://a.test',
      'a.test/',
      'a b',
      '*.local',
      'a.test.',
      'a.test:',
      'a.test:0',
      'a.test:65536',
      'u@a.test',
      '10.0.0.0/33',
      'fd00::/129',
      'a.test/8',
      '300.0.0.1',
      '[::1',
      '[a.test]',
    ];
    for (const entry of entries)
      expect(() => createEgress([entry])).to.throw(
        `egressAllow: "${entry}" is not a host, host:port or CIDR`,
      );
  });

  it('refuses URLs of other kinds and URLs with credentials', () => {
    const urls = [
      '',
      'example.com',
      '/path',
      'file:///etc/passwd',
      'ftp://example.com/',
      'javascript:alert(1)',
      'ws://example.com/',
      'http://',
      'http://[fe80::1%25eth0]/',
      'http://user@example.com/',
      'http://user:word@example.com/',
      'http://example.com:99999/',
    ];
    for (const url of urls) expect(() => parseUrl(url)).to.throw(BadUrl);
  });
});
