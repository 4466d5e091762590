/** Where the guest lies in a container: out of the way of what images and agents use. */
export const GUEST_FOLDER = '/.belljar'
export const GUEST_NAME = 'guest'
export const GUEST_PATH = `${GUEST_FOLDER}/${GUEST_NAME}`
