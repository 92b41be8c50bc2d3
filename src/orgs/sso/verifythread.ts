import { parentPort, workerData } from 'node:worker_threads';
import { SamlRefused, verifyXml } from './saml.js';
import type { ResponseInput, ResponseResult } from './verify.js';

/** Worker thread: verifies one response and ends. */
const { xml, verification }: ResponseInput = workerData;
const reply: ResponseResult = await verifyXml(xml, verification).then(
  (assertion) => ({ assertion }),
  (error) => {
    if (!(error instanceof SamlRefused)) throw error;
    return { refused: [error.code, error.message, error.nameId] };
  },
);
parentPort?.postMessage(reply);
