import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../test/voice/samples/', import.meta.url));

/** Path of "hello world" of 1.2 s, spoken by flite and packed by ffmpeg: `opus.ogg`. */
export const speechPath = (name: string): string => FOLDER + name;

export const speechSample = (name: string): Buffer => readFileSync(speechPath(name));
