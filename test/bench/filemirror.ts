import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of one file in a process of its own: `node filemirror.js <path>`. It sends its address. */
const [path = ''] = process.argv.slice(2);
const { size } = statSync(path);

const server = createServer((request, response) => {
  response.writeHead(200, { 'content-length': size });
  if (request.method === 'HEAD') return void response.end();
  createReadStream(path, { highWaterMark: 1 << 20 }).pipe(response);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}/model.gguf`, entry: `127.0.0.1:${port}` });
});
process.on('disconnect', () => process.exit());
