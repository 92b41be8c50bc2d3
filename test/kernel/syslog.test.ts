import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  formatSyslog,
  openSyslog,
  parseSyslog,
  type SyslogMessage,
} from '../../src/kernel/syslog.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const MESSAGE: SyslogMessage = {
  facility: 13,
  severity: 6,
  at: '2026-03-01T12:00:00.000Z',
  id: 'audit-head',
  data: { id: 'auditHead@32473', values: { number: '7', home: '/home/"a\\b]"/ü' } },
  text: 'audit head 7',
};

describe('syslog', () => {
  it('reads addresses', () => {
    expect(parseSyslog('syslog://logs.example.org')).to.equal({
      host: 'logs.example.org',
      port: 514,
    });
    expect(parseSyslog('syslog://10.0.0.1:5514')).to.equal({ host: '10.0.0.1', port: 5514 });
    expect(parseSyslog('syslog://[fd00::1]:514')).to.equal({ host: 'fd00::1', port: 514 });
    const wrong = ['syslog://', 'syslog://:514', 'syslog://h:0', 'syslog://h:65536', 'syslog:h'];
    for (const text of [
      ...wrong,
      'udp://h',
      'syslog://h/x',
      'syslog://u@h',
      'syslog://h h',
      '/h',
    ]) {
      expect(parseSyslog(text), text).to.be.null();
    }
  });

  it('lays a message out as RFC 5424 does', () => {
    // Section 6: PRI is facility * 8 + severity; 6.3.3: `"`, `\` and `]` are escaped.
    expect(formatSyslog(MESSAGE, { host: 'ma chine\n', pid: 42 })).to.equal(
      '<110>1 2026-03-01T12:00:00.000Z machine adjutant 42 audit-head ' +
        '[auditHead@32473 number="7" home="/home/\\"a\\\\b\\]\\"/ü"] audit head 7',
    );
    expect(formatSyslog(MESSAGE, { host: '', pid: 42 })).to.match(/Z - adjutant 42 /);
  });

  describe('over UDP', () => {
    let server: Socket;
    beforeEach(async () => {
      server = createSocket('udp4');
      server.bind(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(() => {
      server.close();
    });

    const client = (told: string[] = []) =>
      openSyslog({ host: '127.0.0.1', port: server.address().port }, (why) => told.push(why));

    it('sends what is given, and of many at once the newest', async () => {
      const { send, failure } = client();
      const heard: string[] = [];
      const isLast = new Promise<void>((resolve) => {
        server.on('message', (bytes) => {
          heard.push(bytes.toString());
          if (heard.at(-1)?.endsWith('number 99')) resolve();
        });
      });
      for (let n = 0; n < 100; n++) send({ ...MESSAGE, text: `number ${n}` });
      await isLast;
      expect(heard.map((text) => text.split('] ')[1])).to.equal(['number 0', 'number 99']);
      expect(heard[0]).to.contain(`<110>1 ${MESSAGE.at} ${hostname()} adjutant ${process.pid} `);
      expect(failure()).to.be.null();
    });
  });

  it('says once that a name is nobody’s, and throws nothing', async () => {
    const told: string[] = [];
    let resolve: () => void = () => undefined;
    const isTold = new Promise<void>((done) => {
      resolve = done;
    });
    const { send, failure } = openSyslog({ host: 'nobody.invalid', port: 514 }, (why) => {
      told.push(why);
      resolve();
    });
    send(MESSAGE);
    send(MESSAGE);
    await isTold;
    expect(failure()).to.match(/ENOTFOUND|EAI_AGAIN/);
    expect(told.length).to.equal(1);
  });
});
