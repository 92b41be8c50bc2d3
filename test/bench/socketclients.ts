import { WebSocket } from 'ws';

/**
 * Opens sockets in a process of its own, subscribes each to notifications, and tells how many frames
 * have come: `socketclients.js <url> <count> [token]`. Without a token the server is bare.
 */
const [url = '', count = '', token] = process.argv.slice(2);
const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
let received = 0;

const open = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    socket.on('error', reject);
    socket.on('open', () => {
      if (token === undefined) resolve();
      else socket.send(JSON.stringify({ type: 'subscribe', channels: ['notification'] }));
    });
    socket.on('message', (data: Buffer) => {
      if (data.includes('"subscribed"')) resolve();
      else received++;
    });
  });

process.on('message', () => process.send?.({ received }));
process.on('disconnect', () => process.exit());
for (let n = 0; n < Number(count); n += 50) await Promise.all(Array.from({ length: 50 }, open));
process.send?.({ received });
