/* A library that says which of several it is. */
int library_number(void);
int library_number(void) { return NUMBER; }
