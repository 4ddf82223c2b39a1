import os from 'node:os';

/**
 * Loaded before a file of tests that measures nobody's waiting: it and all that it starts let those go first that do.
 * Among each other they get what they got before.
 */
const STEPS = 5;

os.setPriority(Math.min(os.getPriority() + STEPS, os.constants.priority.PRIORITY_LOW));
