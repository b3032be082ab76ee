/**
 * The thread of a landing: hashes, compresses and writes one answer after another, while the main thread reads the next ones. It ends with
 * the first answer that it cannot write: what stands before that one can still be gone on from.
 */

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import type { LandedAnswer, LandingFiles, ThreadReport, UnwrittenAnswer } from './landing.ts';

/** For records as these level 2 takes no longer than level 1, and a tenth less room. */
const compressionLevel = 2;
const files = workerData as LandingFiles;
const port = parentPort!;
let position = 0;
/** The file that was last written to. */
let writing: keyof LandingFiles = 'bodies';

/** Writes both files; an answer is landed once its line is written. */
function write({ line, body }: UnwrittenAnswer): LandedAnswer {
  const bytes = gzipSync(body, { level: compressionLevel });
  const sha256 = createHash('sha256').update(body).digest('hex');
  const landed = { ...line, bytes: body.length, sha256, position, length: bytes.length };
  append('bodies', bytes);
  append('answers', `${JSON.stringify(landed)}\n`);
  position += bytes.length;
  return landed;
}

function append(file: keyof LandingFiles, data: Uint8Array | string): void {
  writing = file;
  // This writes all that it is given; writeSync may write a part.
  writeFileSync(files[file], data);
}

function report(message: ThreadReport): void {
  port.postMessage(message);
}

function land(answer: UnwrittenAnswer): void {
  try {
    report({ landed: write(answer) });
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    const { code, errno, syscall } = failure;
    report({ failure, kept: { code, errno, syscall }, writing });
    // A port that is closed still brings what it holds.
    port.off('message', land);
    port.close();
  }
}

port.on('message', land);
