import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { programs } from '../../../src/providers/tunnels/providers.js';
import { FUNNEL, NGROK, QUICK } from '../../harness/tunnels/fakeprograms.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** What remains of what several lines tell. */
const heard = (name: keyof typeof programs, lines: string[]) => {
  const all = lines.map((line) => programs[name].hear(line));
  return {
    isUp: all.some(({ isUp }) => isUp),
    url: all.find(({ url }) => url !== undefined)?.url,
    said: all.flatMap(({ line }) => line ?? []).length,
  };
};

describe('what a tunnel’s program says', () => {
  it('tells address and connection apart: a name alone is not up yet', () => {
    const url = 'https://words-of-chance-1.trycloudflare.com';
    const lines = QUICK.map((line) => line.replace('{pid}', '1'));
    expect(heard('cloudflared', lines.slice(0, -1))).to.equal({ isUp: false, url, said: 6 });
    expect(heard('cloudflared', lines)).to.equal({ isUp: true, url, said: 7 });
    const [failed] = [
      'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel"',
    ];
    expect(heard('cloudflared', [failed ?? ''])).to.include({ isUp: false });
  });

  it('is JSON from ngrok, and survives what is none', () => {
    expect(heard('ngrok', NGROK)).to.equal({
      ...{ isUp: true, url: 'https://a1b2-192-0-2-1.ngrok-free.app', said: 3 },
    });
    const odd = [
      '',
      'null',
      '[]',
      '{"msg":1}',
      '{"msg":"started tunnel"}',
      '{"url":"x"}',
      '\u0000{',
    ];
    expect(heard('ngrok', odd)).to.equal({ isUp: false, url: undefined, said: 7 });
    const failure = '{"err":"ERR_NGROK_108","lvl":"eror","msg":"session closing"}';
    expect(programs.ngrok.hear(failure).line).to.equal('session closing: ERR_NGROK_108');
    expect(programs.ngrok.hear('{"lvl":"debug","msg":"heartbeat"}').line).to.be.null();
  });

  it('is a page of its own from tailscale', () => {
    expect(heard('tailscale', FUNNEL)).to.include({
      isUp: true,
      url: 'https://box.tail1234.ts.net',
    });
    const asks = 'https://login.tailscale.com/f/funnel?node=n1';
    expect(heard('tailscale', ['Funnel is not enabled on your tailnet.', asks])).to.equal({
      ...{ isUp: false, url: undefined, said: 2 },
    });
  });

  it('is chatter from ssh, but for what matters', () => {
    const lines = [
      'OpenSSH_9.2p1 Debian-2, OpenSSL 3.0.11 19 Sep 2023',
      'debug1: Connecting to box [192.0.2.1] port 22.',
      'debug1: remote forward success for: listen 127.0.0.1:8305, connect 127.0.0.1:3005',
    ];
    expect(heard('ssh', lines.slice(0, 2))).to.equal({ isUp: false, url: undefined, said: 0 });
    expect(heard('ssh', lines).isUp).to.be.true();
    const refused = 'Error: remote port forwarding failed for listen port 8305';
    expect(programs.ssh.hear(refused)).to.equal({ line: refused });
    expect(programs.ssh.hear('Host key verification failed.')).to.equal({
      line:
        'Host key verification failed. Show the keys of the server with adjutant tunnel host-keys <target>, ' +
        'and accept those that you trust with adjutant tunnel setup.',
    });
  });
});
