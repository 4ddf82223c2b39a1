import { processTree } from '@troupe/testing/processes/program';
import { secondsOf } from '../scale/setup.ts';

/** Seconds of processor time of a process and all below it: what else the machine does changes little of it. */
export const secondsOfTree = (pid: number): number =>
  processTree(pid).reduce((sum, one) => {
    try {
      return sum + secondsOf(one);
    } catch {
      // it has ended since, and its parent counts it
      return sum;
    }
  }, 0);
