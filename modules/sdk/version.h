/* Every number that decides which versions fit each other, in one place. The build reads the release from here
 * (CMakeLists.txt); modules/host_table.cpp checks that the house agrees. */
#ifndef BATON_MODULES_SDK_VERSION_H_
#define BATON_MODULES_SDK_VERSION_H_

/* This release: what `--version`, find_package(Baton) and pkg-config report. */
#define BATON_VERSION_MAJOR 0
#define BATON_VERSION_MINOR 1
#define BATON_VERSION_PATCH 0
#define BATON_VERSION "0.1.0"

/* The door of native modules (modules/sdk): a host takes modules made for this number or any below. It rises when
 * something is appended. */
#define BATON_ABI_VERSION 4u

/* Module files (.bvm): the container, and the newest instruction that it may hold. A host takes the container's number
 * alone, and instructions up to its own. */
#define BATON_MODULE_FORMAT_VERSION 1u
#define BATON_ISA_VERSION 3u

#endif
