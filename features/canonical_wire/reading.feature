@0.3
Feature: What an extension refuses to read
  A frame that is not in the one canonical spelling ends the stream: no answer, nothing behind it is looked at.

  Scenario Outline: A line that no reader may accept
    Given the extension is ready
    When the host sends the line <line>
    Then the extension ends without a word

    @EXT03-READ-001
    Examples: it ends in CR
      | line                                                                     |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}«hex 0D» |

    @EXT03-READ-002
    Examples: it is empty
      | line     |
      | «repeat 0 x» |

    @EXT03-READ-003
    Examples: it is one byte over the bound
      | line                                                                                   |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"pad":"«fill max+1»"}} |

    @EXT03-READ-005
    Examples: more than one value
      | line                                                                 |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}{}   |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}null |

    @EXT03-READ-006
    Examples: a byte order mark
      | line                                                                             |
      | «hex EF BB BF»{"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}} |

    @EXT03-READ-007
    Examples: bytes that are no UTF-8
      | line                                                                                          |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex C0 AF»"}}       |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex ED A0 80»"}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex E2 82»"}}       |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex F4 90 80 80»"}} |

    @EXT03-READ-008
    Examples: white space
      | line                                                                             |
      | {"id": «id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}              |
      | «hex 20»{"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}       |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}«hex 20»       |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":[1,«hex 09»2]}} |

    @EXT03-READ-009
    Examples: members out of order
      | line                                                                          |
      | {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}            |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"b":0,"a":0}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"«hex F0 9F 98 80»":0,"«hex EE 80 80»":0}} |

    @EXT03-READ-010
    Examples: a repeated key
      | line                                                                                  |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":0,"k":0}}         |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"a":[{"k":0,"k":1}]}} |

    @EXT03-READ-011
    Examples: a string in another spelling
      | line                                                                                |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"a\/b"}}        |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"\u0041"}}      |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"\u000a"}}      |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"\u001F"}}      |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"\u2028"}}      |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"\ud83d\udc27"}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex 09»"}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex 01»"}}    |

    @EXT03-READ-012
    Examples: half a surrogate pair
      | line                                                                            |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"\ud800"}}  |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"\udc00":0}}    |

    @EXT03-READ-013
    Examples: a number that is not a plain integer
      | line                                                                      |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":2.0}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":2e1}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":-0}}  |

    @EXT03-READ-014
    Examples: a number over the portable range
      | line                                                                                    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":9007199254740992}}  |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":-9007199254740992}} |

    @EXT03-READ-015
    Examples: too deep
      | line                                                                               |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":«nest 32»}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":«nest 31 0»}}  |

    @EXT03-READ-016
    Examples: not JSON
      | line                                                                            |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":NaN}}       |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":02}}        |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":[0,]}}      |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}/*x*/}         |
      | hello                                                                         |

    @EXT03-READ-017
    Examples: no answer to it
      | line                                                                  |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{},}   |

  @EXT03-READ-003
  Scenario: A first frame over the largest bound
    Given the extension has been started
    When the host sends initialize with /workspace = "«repeat 1048577 w»"
    Then the extension ends without a word

  @EXT03-READ-004
  Scenario: A request that lacks its line feed
    Given the extension is ready
    When the host sends the bytes {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}
    And the host closes the input
    Then the extension ends without a word

  @EXT03-READ-018
  Scenario: A request behind a refused frame
    Given the extension is ready
    When the host sends the bytes {"id": 7}«hex 0A»{"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}«hex 0A»
    Then the extension ends without a word

  @EXT03-READ-019
  Scenario: A refused frame leaves a trace for people
    Given the extension is ready
    When the host sends the line {"id": 7}
    Then the extension has complained on stderr

  @EXT03-READ-020
  Scenario: A line that every reader accepts: exactly at the bound
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"pad":"«fill max»"}} |

  @EXT03-READ-021
  Scenario: A line that every reader accepts: exactly as deep as allowed
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":«nest 31»}}   |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":«nest 30 0»}} |

  @EXT03-READ-022
  Scenario: A line that every reader accepts: keys in scalar order
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"«hex EE 80 80»":0,"«hex F0 9F 98 80»":0}}     |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"":0,"10":0,"9":0,"B":0,"a":0,"a b":0,"ab":0}} |

  @EXT03-READ-023
  Scenario: A line that every reader accepts: characters that are written as themselves
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex 7F»/<>&"}}                    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex C2 80»«hex C2 9F»"}}          |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex E2 80 A8»«hex E2 80 A9»"}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex EF BB BF»«hex EF BF BF»"}}    |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"«hex EE 80 80»«hex F0 9F 90 A7»"}} |

  @EXT03-READ-024
  Scenario: A line that every reader accepts: the ends of the portable range
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":[-9007199254740991,9007199254740991]}} |
