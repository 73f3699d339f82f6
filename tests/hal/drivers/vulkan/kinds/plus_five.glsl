uint plus_five(uint number) { return number + 5; }
