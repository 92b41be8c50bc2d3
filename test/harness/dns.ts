import { createSocket } from 'node:dgram';
import { getServers, setServers } from 'node:dns';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface NameServer {
  /** Contents of TXT records by their names. */
  texts: Map<string, string>;
  stop(): void;
}

/** A name server on loopback that replies to TXT questions (RFC 1035, section 4). */
export const startNameServer = async (): Promise<NameServer> => {
  const texts = new Map<string, string>();
  const socket = createSocket('udp4', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const asked = question.subarray(12, at + 5);
    const text = texts.get(labels.join('.').toLowerCase());
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(text === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(text === undefined ? 0 : 1, 6);
    header.writeUInt16BE(0, 8);
    header.writeUInt16BE(0, 10);
    const data = Buffer.from(text ?? '');
    const answer = Buffer.alloc(13);
    answer.writeUInt16BE(0xc00c, 0);
    answer.writeUInt16BE(16, 2);
    answer.writeUInt16BE(1, 4);
    answer.writeUInt16BE(data.length + 1, 10);
    answer[12] = data.length;
    const reply = text === undefined ? [header, asked] : [header, asked, answer, data];
    socket.send(Buffer.concat(reply), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const before = getServers();
  setServers([`127.0.0.1:${(socket.address() as AddressInfo).port}`]);
  return {
    texts,
    stop: () => {
      setServers(before);
      socket.close();
    },
  };
};
