import { Socket } from 'node:net';

/** Longer than any test. The sockets with this limit are told by hand that it has passed. */
export const SILENCE_MS = 3_600_000;

/** Collects the sockets of the client; `pass` ends their time. */
export const watchSilence = () => {
  const { setTimeout } = Socket.prototype;
  const sockets = new Set<Socket>();
  Socket.prototype.setTimeout = function (this: Socket, ms, then) {
    if (ms === SILENCE_MS) sockets.add(this);
    return setTimeout.call(this, ms, then);
  };
  return {
    pass: () => {
      for (const socket of sockets) socket.emit('timeout');
    },
    stop: () => {
      Socket.prototype.setTimeout = setTimeout;
    },
  };
};
